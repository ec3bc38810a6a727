import { mountDocs } from '../../src/openapi/index.js';
import { type ApiDocument, Described } from './openapi/described.js';
import { OPERATION_IDS } from './openapi/operation-calls.js';
import { RestApp } from './rest-app.js';

describe('the OpenAPI document of an app', () => {
  let described: Described;

  beforeAll(async () => {
    described = new Described(await documentOf({ summarizer: {}, search: true, agents: true }));
  });

  it('has a unique id and a tag for every operation', () => {
    const ids = described.operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(OPERATION_IDS.toSorted()).toEqual(ids.toSorted());
    expect(described.document.tags.map(({ name }) => name)).toEqual([
      'sessions',
      'events',
      'state',
      'summaries',
      'search',
      'agents',
    ]);
  });

  it('lists path parameters first, each with an example', () => {
    for (const { route, operation } of described.operations) {
      const names = [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const parameters = operation.parameters ?? [];
      expect(parameters.slice(0, names.length)).toEqual(
        names.map((name) =>
          expect.objectContaining({
            name,
            in: 'path',
            required: true,
            schema: expect.objectContaining({ example: expect.any(String) }),
          }),
        ),
      );
      // Examples are filled in by the page and must not make the call fail, as a condition would.
      for (const other of parameters.slice(names.length)) {
        const required =
          (other.name === 'Turn-Token' && /^(renew|end)Turn$/.test(operation.operationId)) ||
          ['seq', 'text'].includes(other.name);
        expect(other).toMatchObject({ in: expect.stringMatching(/^(query|header)$/), required });
        expect(JSON.stringify(other)).not.toContain('example');
      }
    }
  });

  it('has no broken reference and no unused schema', () => {
    const text = JSON.stringify(described.document);
    expect(text).not.toMatch(/"\$ref":"#\/components\/(?!schemas\/)/);
    for (const [, $ref = ''] of text.matchAll(/"\$ref":"([^"]+)"/g)) described.resolved({ $ref });
    for (const name of Object.keys(described.document.components.schemas)) {
      expect(text).toContain(`"#/components/schemas/${name}"`);
    }
  });

  it('has a valid example of every request and response', () => {
    const bodies = described.operations.flatMap(({ operation: { requestBody, responses } }) => [
      requestBody,
      ...Object.values(responses),
    ]);
    for (const media of bodies.flatMap((each) => Object.values(each?.content ?? {}))) {
      const example = described.exampleOf(media);
      expect(example).toBeDefined();
      expect(described.valueProblems(media.schema, example)).toEqual([]);
    }
  });

  it('says for each object whether it may have other fields', () => {
    const schemas = Object.entries(described.document.components.schemas);
    for (const [name, schema] of schemas.filter(([, { properties }]) => properties)) {
      expect([name, schema]).toEqual([name, expect.objectContaining({ additionalProperties: expect.any(Boolean) })]);
    }
  });

  it('has the prefix of the routes', async () => {
    const { paths } = await documentOf({ path: 'api/v1', summarizer: {}, search: true, agents: true });
    expect(Object.keys(paths)).toEqual(Object.keys(described.document.paths).map((path) => `/api/v1${path}`));
  });

  it('has no summaries, search and agents if their routes are not mounted', async () => {
    const document = await documentOf({});
    expect(Object.keys(document.paths)).toEqual(
      Object.keys(described.document.paths).filter(
        (path) => !/summar|search|around|run|stop|approvals|list-apps/.test(path),
      ),
    );
    expect(JSON.stringify(document)).not.toMatch(/summaries"|SessionSummary|SUMMARY_|search"|SearchHit|agents"|AGENT_/);
  });
});

async function documentOf(options: Parameters<typeof RestApp.start>[1]): Promise<ApiDocument> {
  const app = await RestApp.start('Express', { ...options, prepare: mountDocs });
  try {
    const { body } = await app.request('GET', '/openapi.json');
    return body as unknown as ApiDocument;
  } finally {
    await app.close();
  }
}
