import { Logger } from '@nestjs/common';
import {
  type AccessRequest,
  type AuditOptions,
  type AuditRecord,
  SessionAccess,
  SessionAccessModule,
} from '../../src/sessions/rest/index.js';
import { documentOf } from '../graphql/schema-documents.js';
import { GraphqlApp } from '../graphql/graphql-app.js';
import { RestApp, frameworks } from '../rest/rest-app.js';
import { goodRequest } from '../transports/access-cases.js';
import { restRequest } from '../transports/rest-requests.js';
import { ROWS, ROW_NAMES, type RowName, idsOf } from '../transports/rows.js';
import { until } from '../support/until.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const pathOf = ({ sessionId }: typeof KEY): string => `/apps/shop/users/ann/sessions/${sessionId}`;

/** Each test has a session of its own, since a turn that one takes would make the next one wait. */
let sessions = 0;
function nextKey(): typeof KEY {
  sessions += 1;
  return { ...KEY, sessionId: `s${sessions}` };
}
const CANARY = 'canary-3c81';

/** Ann may do everything, and others nothing. */
class OnlyAnn extends SessionAccess {
  override userOf = (request: unknown): unknown => {
    const { headers } = request as { readonly headers: Readonly<Record<string, string>> };
    return headers['x-user'] && { id: headers['x-user'], secret: CANARY };
  };

  allows({ user }: AccessRequest): boolean {
    return user.id === 'ann';
  }

  override allowsWrite(): boolean {
    return true;
  }
}

const PARTS = { summarizer: { keepRecentEvents: 0 }, search: true, agents: true } as const;

/** One who may, one who may not, and nobody. */
const CALLERS = ['ann', 'bob', ''] as const;

let records: AuditRecord[];
const audit: AuditOptions = { sink: (some) => void records.push(...some) };
beforeEach(() => {
  records = [];
});

/** @param code of the answer, if it is one of a problem */
function expectOneRecord(name: RowName, user: string, code: unknown, { sessionId }: typeof KEY): void {
  const ids = idsOf(ROWS[name]);
  const end = name.startsWith('stream') ? 'allowed' : code === undefined ? 'done' : 'failed';
  const outcome = user === 'ann' ? end : 'refused';
  expect(records).toEqual([
    expect.objectContaining({
      operation: name,
      outcome,
      appName: 'shop',
      ...(ids.includes('sessionId') && { userId: 'ann', sessionId }),
    }),
  ]);
  expect(records[0]?.by).toEqual(user === '' ? undefined : { id: user });
  // Who may not delete a session does not learn that.
  expect(records[0]?.code).toBe(
    outcome === 'refused' && name === 'deleteSession' && user === 'bob' ? 'FORBIDDEN' : code,
  );
}

describe.each(frameworks)('the audit over REST on %s', (framework) => {
  let app: RestApp;
  beforeAll(async () => {
    app = await RestApp.start(framework, { ...PARTS, access: OnlyAnn, audit });
  });
  afterAll(() => app.close());
  let key: typeof KEY;
  beforeEach(async () => {
    key = nextKey();
    const session = await app.sessions.createSession(key);
    await app.sessions.appendEvent({ session, event: { author: 'user', content: { parts: [{ text: CANARY }] } } });
  });

  const send = async (name: RowName, user: string): Promise<unknown> => {
    const { method, path, query, body, headers } = restRequest(ROWS[name], goodRequest(name, 'rest', key.sessionId));
    const gone = new AbortController();
    const response = await fetch(app.url + path + query, {
      method,
      signal: gone.signal,
      headers: {
        ...headers,
        'content-type': 'application/json',
        connection: 'close',
        ...(user !== '' && { 'x-user': user }),
      },
      ...(method !== 'GET' && { body: JSON.stringify(body ?? {}) }),
    });
    const text = response.ok && name.startsWith('stream') ? '' : await response.text();
    gone.abort();
    return response.ok ? undefined : (JSON.parse(text) as { readonly code: string }).code;
  };

  describe.each(CALLERS)('of "%s"', (user) => {
    it.each(ROW_NAMES.filter((name) => ROWS[name].route))('has one record of %s', async (name) => {
      const code = await send(name, user);
      await until(() => records.length > 0);
      expectOneRecord(name, user, code, key);
      expect(JSON.stringify(records)).not.toContain(CANARY);
    });
  });

  it('has ids of requests and traces, and nothing of what is sent', async () => {
    const headers = {
      'x-user': 'ann',
      'x-request-id': 'r-1',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    };
    const event = {
      id: CANARY,
      author: CANARY,
      [CANARY]: CANARY,
      content: { role: CANARY, parts: [{ [CANARY]: CANARY }] },
      actions: { stateDelta: { [CANARY]: CANARY, [`user:${CANARY}`]: CANARY }, [CANARY]: CANARY },
    };
    expect((await app.request('POST', `${pathOf(key)}/events`, event, headers)).status).toBe(201);
    await app.request(
      'POST',
      `${pathOf(key)}/redaction`,
      { seq: 1, reason: CANARY },
      { ...headers, 'x-request-id': `{${CANARY}}` },
    );
    expect(records).toEqual([
      {
        at: expect.any(Number),
        outcome: 'done',
        operation: 'appendEvent',
        action: 'write',
        target: 'session',
        ...key,
        by: { id: 'ann' },
        requestId: 'r-1',
        traceId: '0af7651916cd43dd8448eb211c80319c',
      },
      expect.objectContaining({ operation: 'redactEvent', action: 'write', outcome: 'done' }),
    ]);
    expect(records[1]).not.toHaveProperty('requestId');
    expect(JSON.stringify(records)).not.toContain(CANARY);
  });
});

describe('the audit over GraphQL', () => {
  let app: GraphqlApp;
  beforeAll(async () => {
    app = await GraphqlApp.start({ ...PARTS, access: OnlyAnn, audit });
  });
  afterAll(() => app.close());
  let key: typeof KEY;
  beforeEach(async () => {
    key = nextKey();
    await app.sessions.createSession(key);
  });

  describe.each(CALLERS)('of "%s"', (user) => {
    it.each(ROW_NAMES.filter((name) => ROWS[name].graphql))('has one record of %s', async (name) => {
      const document = documentOf(app.schema, ROWS[name].graphql?.name ?? '', { PendingApproval: ['tool'] });
      const headers: Record<string, string> = user === '' ? {} : { 'x-user': user };
      const { errors } = await app.ask(document, goodRequest(name, 'graphql', key.sessionId), headers);
      const code: unknown = errors[0]?.extensions.code;
      // A missing session is null, and a forbidden one looks the same.
      expectOneRecord(name, user, code ?? (user === 'bob' ? records[0]?.code : undefined), key);
    });
  });

  it('has a record of each field of a document', async () => {
    const document = `{ a: turn(appName: "shop", userId: "ann", sessionId: "s") { holder } b: usage(appName: "shop") { period } }`;
    await app.ask(document, {}, { 'x-user': 'ann' });
    expect(records.map(({ operation }) => operation)).toEqual(['getTurn', 'getAppUsage']);
  });
});

const broken = (): never => {
  throw new Error('The disk is full');
};

describe('a sink that fails', () => {
  it('is one line of the log, and keeps nobody from anything', async () => {
    const said = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const app = await RestApp.start('Express', { access: OnlyAnn, audit: { sink: broken } });
    for (const _ of [1, 2, 3]) await app.request('POST', pathOf(KEY), {}, { 'x-user': 'ann' });
    await app.close();
    expect(said.mock.calls).toEqual([[expect.stringContaining('(1 so far): The disk is full')]]);
    said.mockRestore();
  });

  it('refuses what cannot be noted, if it is asked to', async () => {
    const said = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const app = await RestApp.start('Express', { access: OnlyAnn, audit: { sink: broken, onFailure: 'refuse' } });
    expect((await app.request('POST', pathOf(KEY), {}, { 'x-user': 'ann' })).status).toBe(503);
    expect((await app.request('POST', pathOf(KEY), {}, { 'x-user': 'bob' })).status).toBe(403);
    expect(await app.sessions.getSession(KEY)).toBeUndefined();
    await app.close();
    said.mockRestore();
  });

  it('is refused at the start if it is none', () => {
    for (const wrong of [{}, { sink: 'file' }, { sink: 'log', onFailure: 'stop' }, { sink: 'log', level: 'x' }]) {
      expect(() => SessionAccessModule.forRoot({ access: OnlyAnn, audit: wrong as never })).toThrow(/audit/);
    }
  });
});
