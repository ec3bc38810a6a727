import { describeSessionsRoutes, describeSummaryRoutes, mountDocs } from '../../src/openapi/index.js';
import type {
  Answer as ResponseObject,
  Parameter,
  SessionsDocument,
} from '../../src/sessions/openapi/document-types.js';
import { Described } from './openapi/described.js';
import { OPERATION_CALLS } from './openapi/operation-calls.js';
import { RestApp } from './rest-app.js';

const ofSessions = new Described(describeSessionsRoutes());
const ofSummaries = new Described(describeSummaryRoutes());

describe.each([
  ['sessions', ofSessions],
  ['summaries', ofSummaries],
])('the document of the routes of %s', (_name, own) => {
  it('names every parameter that a path has', () => {
    for (const [path, { parameters = [] }] of Object.entries(own.document.paths)) {
      const named = parameters.map((each) => own.resolved<Parameter>(each).name);
      expect(named).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    }
  });

  it('has nothing that nobody refers to, and no reference that leads nowhere', () => {
    const text = JSON.stringify(own.document);
    for (const [, reference] of text.matchAll(/"\$ref":"([^"]+)"/g)) own.resolved({ $ref: reference });
    for (const [kind, parts] of Object.entries(own.document.components)) {
      for (const name of Object.keys(parts)) expect(text).toContain(`"#/components/${kind}/${name}"`);
    }
  });

  it('has examples of all that is sent and answered, and they are as described', () => {
    const bodies = own.operations.flatMap(({ operation: { requestBody, responses } }) => [
      requestBody,
      ...Object.values(responses).map((each) => own.resolved<ResponseObject>(each)),
    ]);
    for (const { schema, example } of bodies.flatMap((each) => Object.values(each?.content ?? {}))) {
      expect(example).toBeDefined();
      expect(own.valueProblems(schema, example)).toEqual([]);
    }
  });
});

describe('the document of an app', () => {
  it('names every operation once', () => {
    const operations = [...ofSessions.operations, ...ofSummaries.operations];
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(Object.keys(OPERATION_CALLS).toSorted()).toEqual(ids.toSorted());
  });

  it('follows the routes to wherever they are mounted', async () => {
    const paths = await documentedPaths({ path: 'api/v1', summarizer: {} });
    const [sessions, summaries] = [describeSessionsRoutes('/api/v1/'), describeSummaryRoutes('/api/v1/')];
    expect(paths.toSorted()).toEqual([...Object.keys(sessions.paths), ...Object.keys(summaries.paths)].toSorted());
    expect(paths).toContain('/api/v1/apps/{appName}/users/{userId}/sessions/{sessionId}/summary');
  });

  it('says nothing of summaries where their routes are not mounted', async () => {
    expect(await documentedPaths({})).toEqual(Object.keys(describeSessionsRoutes().paths));
  });
});

async function documentedPaths(options: Parameters<typeof RestApp.start>[1]): Promise<string[]> {
  const app = await RestApp.start('Express', { ...options, prepare: mountDocs });
  try {
    const { text, body } = await app.request('GET', '/openapi.json');
    if (!options?.summarizer) expect(text).not.toMatch(/summaries"|SessionSummary|SUMMARY_/);
    return Object.keys((body as unknown as SessionsDocument).paths);
  } finally {
    await app.close();
  }
}
