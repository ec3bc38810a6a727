import { HttpException, Injectable, UnauthorizedException } from '@nestjs/common';
import { StoreUnavailableError } from '../../src/index.js';
import { mountDocs } from '../../src/openapi/index.js';
import { type AccessRequest, OpenAccess } from '../../src/sessions/rest/index.js';
import { SummaryFailedError } from '../../src/summarizer/index.js';
import { type ApiDocument, Described, type DescribedOperation } from './openapi/described.js';
import {
  OPERATION_IDS,
  type OperationCall,
  TURN_TOKEN,
  callsOf,
  firstMethodOf,
  refusedAlways,
  refusedByRow,
} from './openapi/operation-calls.js';
import { type Answer, RestApp, frameworks } from './rest-app.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };

/** Denies what a header names, also as a guard of the app. */
@Injectable()
class DenyingAccess extends OpenAccess {
  override allows({ target, request }: AccessRequest): boolean {
    const denied = (request as { headers: Record<string, string | undefined> }).headers['x-deny'];
    if (denied === 'anonymous') throw new UnauthorizedException('Sign in first.');
    if (denied === 'bug') throw new Error('A bug');
    if (denied === 'haste') throw new HttpException('There were too many requests.', 429);
    return denied !== target;
  }

  override allowsWrite({ request }: AccessRequest): boolean {
    return (request as { headers: Record<string, string | undefined> }).headers['x-deny'] !== 'writes';
  }
}

const failures = {
  store: () => new StoreUnavailableError('The store is away.', true),
  bug: () => new Error('A bug'),
  model: () => new SummaryFailedError('gpt', 'its answer was empty'),
} as const;

async function fetchText(url: string): Promise<string> {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  return response.text();
}

describe.each(frameworks)('the OpenAPI document on %s', (framework) => {
  let app: RestApp;
  let described: Described;

  beforeAll(async () => {
    app = await RestApp.start(framework, {
      access: DenyingAccess,
      summarizer: { keepRecentEvents: 0 },
      search: true,
      agents: true,
      prepare: mountDocs,
    });
    const { body } = await app.request('GET', '/openapi.json');
    described = new Described(body as unknown as ApiDocument);
  });

  afterAll(async () => {
    await app.close();
  });

  beforeEach(async () => {
    await app.sessions.createSession({ ...KEY, state: { 'user:theme': 'light' } });
    await app.sessions.createSession({ ...KEY, sessionId: 'other' });
    jest.spyOn(crypto, 'randomUUID').mockReturnValueOnce(TURN_TOKEN);
    await app.sessions.beginTurn({ ...KEY, sessionId: 'other' });
    await app.sessions.createSession({ ...KEY, sessionId: 'long' });
    await app.sessions.createSession({ ...KEY, sessionId: 'asking' });
    const refund = { newMessage: { parts: [{ text: 'refund' }] }, invocationId: 'i1' };
    await app.request('POST', '/apps/shop/users/ann/sessions/asking/run', refund);
    for (const [session, id] of [
      ['s', 'e-1'],
      ['s', 'e-2'],
      ['long', 'e-1'],
    ] as const) {
      const content = { role: 'user', parts: [{ text: 'Hello' }] };
      const said = session === 'long' ? { modelRequest: { given: [], instructions: 'Be brief.' } } : {};
      await app.sessions.appendEvent({
        session: { ...KEY, id: session },
        event: { id, author: 'user', content, ...said },
      });
    }
    await app.summaries.createSessionSummary({ session: { ...KEY, id: 'long' }, force: true });
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    const { sessions } = await app.sessions.listSessions({ appName: KEY.appName });
    for (const { id: sessionId, appName, userId } of sessions) {
      await app.sessions.deleteSession({ appName, userId, sessionId });
    }
  });

  it('has exactly the existing routes', () => {
    const ids = described.operations.map(({ operation }) => operation.operationId);
    expect(ids.toSorted()).toEqual(OPERATION_IDS.toSorted());
    if (framework === 'Fastify') return;
    const documented = described.operations.map(({ route }) => route);
    const routes = app.routes().filter((route) => / \/(apps|run|list-apps)/.test(route));
    expect(documented.toSorted()).toEqual(routes.map((route) => route.replace(/:(\w+)/g, '{$1}')).toSorted());
  });

  it.each(OPERATION_IDS)('describes all responses of %s', async (id) => {
    const each = described.operation(id);
    const [method, calls] = [firstMethodOf(id), callsOf(id)];
    const [good = { status: 0 }] = calls;
    const wrong: OperationCall[] = [
      { ...good, status: 400, ids: { appName: '%20', userId: '%20' } },
      { ...good, status: 401, headers: { 'x-deny': 'anonymous' }, query: '' },
      { ...good, status: 429, headers: { 'x-deny': 'haste' }, query: '' },
      { ...good, status: 500, failure: 'bug' },
      { ...good, status: 503, failure: 'store' },
    ];
    const refused = each.route.endsWith('apps') ? [] : [...wrong, ...refusedAlways(each, good)];
    const problems: string[] = [];
    const seen = new Set<string>(each.operation.operationId === 'streamEvents' ? ['200'] : []);
    for (const call of [...refusedByRow(id, good), ...calls, ...refused]) {
      if (call.failure) {
        const error = failures[call.failure]();
        const owner = [app.summaries, app.search].find((service) => method in service) ?? app.sessions;
        jest
          .spyOn(owner as typeof app.sessions, method as 'append')
          .mockImplementationOnce(() => Promise.reject(error));
      }
      const answer = await ask(each, call);
      seen.add(String(answer.status));
      if (answer.status !== call.status) problems.push(`${answer.status} instead of ${call.status}: ${answer.text}`);
      problems.push(...described.problemsOf(each, answer));
    }
    expect(problems).toEqual([]);
    expect([...seen].toSorted()).toEqual(Object.keys(each.operation.responses).toSorted());
  });

  it('describes events, also with null fields, as ADK for Python sends them', async () => {
    const nothing = { author: 'agent', branch: null, partial: null, longRunningToolIds: null, usageMetadata: null };
    const event = {
      ...nothing,
      errorCode: null,
      errorMessage: null,
      customMetadata: null,
      turnComplete: null,
      interrupted: null,
      groundingMetadata: null,
      content: { role: null, parts: [{ text: null, functionCall: null, functionResponse: null, inlineData: null }] },
      actions: {
        artifactDelta: null,
        skipSummarization: null,
        transferToAgent: null,
        escalate: null,
        compaction: null,
        rewind: null,
      },
    };
    const path = '/apps/shop/users/ann/sessions/s/events';
    for (const body of [event, { ...event, content: { role: null, parts: null } }, { ...event, content: null }]) {
      expect(described.valueProblems({ $ref: '#/components/schemas/EventInput' }, body)).toEqual([]);
      const answer = await app.request('POST', path, body);
      expect(answer.status).toBe(201);
      expect(described.valueProblems({ $ref: '#/components/schemas/Event' }, answer.body)).toEqual([]);
    }
    // Fields that the store fills in are never null.
    await app.request('POST', path, {
      author: 'agent',
      id: null,
      invocationId: null,
      timestamp: null,
      actions: { stateDelta: null, stateRemovals: null },
    });
    await app.request('POST', path, { author: 'agent', actions: null });
    const page = await app.request('GET', path);
    expect(described.valueProblems({ $ref: '#/components/schemas/EventPage' }, page.body)).toEqual([]);
  });

  it('describes the events of the stream', async () => {
    const gone = new AbortController();
    const path = `${app.url}/apps/shop/users/ann/sessions/s/events/stream?afterSeq=0`;
    const response = await fetch(path, { signal: gone.signal });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const reader = response.body?.getReader();
    let text = '';
    while (!text.includes('\n\n')) text += Buffer.from((await reader?.read())?.value ?? []).toString();
    gone.abort();
    const data: unknown = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? 'null');
    expect(described.valueProblems({ $ref: '#/components/schemas/Event' }, data)).toEqual([]);
  });

  it.each(OPERATION_IDS)('lists all parameters of %s', async (id) => {
    const each = described.operation(id);
    const namesKnownTo = async (call: OperationCall): Promise<string[]> => {
      const { body } = await ask(each, call);
      const known = /known are (.*)$/.exec(String(body.detail))?.[1];
      return known === undefined ? [] : known.split(', ').filter((name) => name !== 'none');
    };
    const query = (each.operation.parameters ?? []).filter(({ in: place }) => place === 'query');
    const names = query.map(({ name }) => name);
    if (names.length > 0)
      expect((await namesKnownTo({ status: 400, query: '?nope=1' })).toSorted()).toEqual(names.toSorted());
    for (const { name, schema } of query) {
      const asked = new URLSearchParams(callsOf(id)[0]?.query);
      asked.set(name, 'nope');
      const { body } = await ask(each, { status: 400, query: `?${asked.toString()}` });
      const [, allowed] = /must be one of the following values: (.*)$/.exec(String(body.detail)) ?? [];
      const { enum: values } = described.merged(schema) as { readonly enum?: readonly string[] };
      expect([name, values?.join(', ')]).toEqual([name, allowed]);
    }
    const schema = each.operation.requestBody?.content?.['application/json']?.schema;
    if (!schema || each.operation.operationId === 'appendEvent') return;
    const fields = Object.keys(described.resolved<{ properties?: object }>(schema).properties ?? {});
    expect((await namesKnownTo({ status: 400, body: { nope: 1 } })).toSorted()).toEqual(fields.toSorted());
  });

  it('is shown by a page that loads files of this server only', async () => {
    const page = await fetchText(`${app.url}/docs`);
    const files = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file);
    expect(files).toHaveLength(6);
    for (const file of files) {
      const url = new URL(file, `${app.url}/docs`);
      expect(url.origin).toBe(app.url);
      const { headers } = await fetch(url);
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'self'; /);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      const text = await fetchText(url.href);
      const outside = file.endsWith('.css') ? text.match(/url\((?!["']?data:)[^)]*|@import/g) : null;
      expect(outside).toBeNull();
    }
    expect(await fetchText(`${app.url}/docs/swagger-ui-init.js`)).toContain('"validatorUrl": null');
  });

  function ask({ route }: DescribedOperation, { query = '', body, headers, ids }: OperationCall): Promise<Answer> {
    const [method = '', pattern = ''] = route.split(' ');
    const path = Object.entries({ ...KEY, ...ids }).reduce(
      (part, [name, id]) => part.replace(`{${name}}`, id),
      pattern,
    );
    const inBody = pattern.startsWith('/run') && (body === undefined || typeof body === 'object');
    const decoded = Object.fromEntries(Object.entries(ids ?? {}).map(([name, id]) => [name, decodeURIComponent(id)]));
    const given = inBody ? { ...KEY, ...decoded, ...(body as object) } : body;
    return app.request(method, path.replace('{approvalId}', 'c1@i1') + query, given, { ...headers });
  }
});
