import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { ForbiddenException, Injectable, Logger, type NestInterceptor } from '@nestjs/common';
import { timeout } from 'rxjs';
import { type AccessUser, SessionAccess } from '../../src/sessions/rest/index.js';
import type { SessionService } from '../../src/index.js';
import { GraphqlApp } from '../graphql/graphql-app.js';
import { type Answer, RestApp, frameworks } from './rest-app.js';

const SESSIONS = '/apps/shop/users/ann/sessions';
const HELLO = { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } };

/** What clients of other services throw. */
const ofUpstream = [{ status: 404 }, { statusCode: 400 }, { status: 429, expose: true }].map((fields) => ({
  said: JSON.stringify(fields),
  error: Object.assign(new Error('the upstream secret'), fields),
}));

/** What the rule does next. */
let userOf: () => AccessUser;
let allows: () => boolean | Promise<boolean>;
let budgets: () => never | Promise<never>;
let quotas: () => object | Promise<object>;

@Injectable()
class Rule extends SessionAccess {
  override userOf(): AccessUser {
    return userOf();
  }
  allows(): boolean | Promise<boolean> {
    return allows();
  }
}

const reset = (): void => {
  userOf = () => ({ id: 'ann' });
  allows = () => true;
  budgets = throwUpstream;
  quotas = () => ({});
};

/** The messages of the lines that the server logs. */
function logged(): unknown[] {
  const lines: unknown[] = [];
  jest.spyOn(Logger.prototype, 'error').mockImplementation((message: unknown) => void lines.push(message));
  return lines;
}

const thrower = (error: Error) => (): never => {
  throw error;
};

const throwUpstream = thrower(Object.assign(new Error('the upstream secret'), { status: 404 }));

const expectFault = (answer: Answer, lines: readonly unknown[]): void => {
  expect(answer).toMatchObject({ status: 500, body: { code: 'INTERNAL' } });
  expect(answer.text).not.toContain('upstream');
  expect(lines).toHaveLength(1);
};

/** An error of the app is its own, whatever status the error names. */
describe.each(frameworks)('faults of the app on %s', (framework) => {
  let app: RestApp;

  beforeAll(async () => {
    app = await RestApp.start(framework, {
      access: Rule,
      agents: true,
      sessions: { usage: { budgets: () => budgets() }, quotas: { user: () => quotas() } },
    });
  });

  beforeEach(reset);

  afterEach(async () => {
    reset();
    jest.restoreAllMocks();
    await app.sessions.eraseUser({ appName: 'shop', userId: 'ann' });
  });

  afterAll(() => app.close());

  it.each(ofUpstream)('are no answers of a rule: $said', async ({ error }) => {
    const lines = logged();
    allows = thrower(error);
    expectFault(await app.request('GET', `${SESSIONS}/s`), lines.splice(0));
    userOf = thrower(error);
    expectFault(await app.request('GET', `${SESSIONS}/s`), lines);
  });

  it('say what was thrown, also if it is no error', async () => {
    const lines: unknown[] = [];
    jest.spyOn(Logger.prototype, 'error').mockImplementation((...line: unknown[]) => void lines.push(line));
    allows = thrower('the rule is off' as never);
    expect(await app.request('GET', `${SESSIONS}/s`)).toMatchObject({ status: 500 });
    expect(lines).toEqual([[expect.any(String), "'the rule is off'"]]);
  });

  it.each(ofUpstream)('are no answers of a hook: $said', async ({ error }) => {
    await app.request('POST', `${SESSIONS}/s`);
    const lines = logged();
    const forget = app.sessions.hooks.onBeforeAppend(thrower(error));
    const answer = await app.request('POST', `${SESSIONS}/s/events`, HELLO);
    forget();
    expectFault(answer, lines);
  });

  it('are no answers of budgets, nor of quotas', async () => {
    await app.request('POST', `${SESSIONS}/s`);
    const lines = logged();
    expectFault(await app.request('POST', `${SESSIONS}/s/run`, { newMessage: 'hello' }), lines.splice(0));
    quotas = throwUpstream;
    expectFault(await app.request('POST', `${SESSIONS}/s/events`, HELLO), lines);
  });

  it.each([
    ['wrong input', (sessions: SessionService) => sessions.getSession({ appName: '', userId: 'ann', sessionId: 's' })],
    [
      'a missing session',
      (sessions: SessionService) => sessions.listEvents({ appName: 'plans', userId: 'ann', sessionId: 'plan' }),
    ],
  ])('are no answers of what a rule, budgets or quotas ask the service: %s', async (_what, nested) => {
    await app.request('POST', `${SESSIONS}/s`);
    const lines = logged();
    const fail = async (): Promise<never> => {
      await nested(app.sessions);
      throw new Error('it has to fail');
    };
    budgets = fail;
    expectFault(await app.request('POST', `${SESSIONS}/s/run`, { newMessage: 'hello' }), lines.splice(0));
    quotas = fail;
    expectFault(await app.request('POST', `${SESSIONS}/s/events`, HELLO), lines.splice(0));
    allows = fail;
    expectFault(await app.request('GET', `${SESSIONS}/s`), lines);
  });

  it('are not that a rule looks for the session that it is asked about, and finds none', async () => {
    const lines = logged();
    allows = async () =>
      (await app.sessions.listEvents({ appName: 'shop', userId: 'ann', sessionId: 's' })).lastSeq > 0;
    const missing = { status: 404, body: { code: 'SESSION_NOT_FOUND' } };
    expect(await app.request('GET', `${SESSIONS}/s`)).toMatchObject(missing);
    expect((await app.request('DELETE', `${SESSIONS}/s`)).status).toBe(204);
    expect(lines).toEqual([]);
  });

  it('are not the exceptions that a rule means for clients', async () => {
    const lines = logged();
    allows = thrower(new ForbiddenException('Not today.'));
    const answer = await app.request('GET', `${SESSIONS}/s`);
    expect(answer).toMatchObject({ status: 403, body: { code: 'FORBIDDEN', detail: 'Not today.' } });
    expect(lines).toEqual([]);
  });

  it('are not the errors that http-errors makes for clients', async () => {
    const lines = logged();
    allows = thrower(Object.assign(new Error('No token.'), { expose: true, status: 403, statusCode: 403 }));
    const answer = await app.request('GET', `${SESSIONS}/s`);
    expect(answer).toMatchObject({ status: 403, body: { code: 'FORBIDDEN', detail: 'No token.' } });
    expect(lines).toEqual([]);
  });

  const type = { 'content-type': 'application/json' };
  it.each([
    { what: 'bad JSON', path: SESSIONS, body: '{"a', headers: type, status: 400 },
    { what: 'a wrong escape', path: `${SESSIONS}/%zz`, body: '{}', headers: type, status: 400 },
    { what: 'another charset', path: SESSIONS, body: '{}', headers: { 'content-type': 'application/json; charset=x' } },
    {
      what: 'a body that is too large',
      path: SESSIONS,
      body: `{"a":"${'a'.repeat(5_000_000)}"}`,
      headers: type,
      status: 413,
    },
  ])('are not mistakes of clients: $what', async ({ path, body, headers, status = 415 }) => {
    const lines = logged();
    expect((await app.request('POST', path, body, headers)).status).toBe(status);
    expect(lines).toEqual([]);
  });

  it('are not uploads that stop in the middle', async () => {
    const lines = logged();
    const socket = begin(app.url);
    const seen = once(app.server, 'request');
    socket.write(
      `POST ${SESSIONS} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"a`,
    );
    const [, response] = (await seen) as [unknown, NodeJS.EventEmitter];
    const closed = once(response, 'close');
    socket.destroy();
    await closed;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(lines).toEqual([]);
  });
});

it.each(frameworks)('an interceptor that ends a stream on %s is what its reader is told of', async (framework) => {
  reset();
  const limit: NestInterceptor = { intercept: (_context, next) => next.handle().pipe(timeout(200)) };
  const app = await RestApp.start(framework, { access: Rule, prepare: (host) => host.useGlobalInterceptors(limit) });
  try {
    await app.request('POST', `${SESSIONS}/s`);
    const lines = logged();
    const { status, text } = await app.request('GET', `${SESSIONS}/s/events/stream`);
    expect([status, text]).toEqual([200, expect.stringMatching(/^event: problem\ndata: .*"code":"INTERNAL"/m)]);
    expect(lines).toHaveLength(1);
  } finally {
    jest.restoreAllMocks();
    await app.close();
  }
});

it('a compressed body that is broken is a mistake of the client', async () => {
  reset();
  const app = await RestApp.start('Express', { access: Rule, bodies: { inflate: true } });
  try {
    const lines = logged();
    const whole = gzipSync(JSON.stringify({ state: { a: randomBytes(500).toString('hex') } }));
    for (const body of [whole.subarray(0, -20), Buffer.from('no gzip at all')]) {
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
      const answer = await fetch(app.url + SESSIONS, { method: 'POST', headers, body });
      expect([answer.status, (await answer.json()) as object]).toMatchObject([400, { code: 'INVALID_INPUT' }]);
    }
    expect(lines).toEqual([]);
  } finally {
    jest.restoreAllMocks();
    await app.close();
  }
});

it('GraphQL does not give clients what the app throws either', async () => {
  reset();
  const app = await GraphqlApp.start({ access: Rule });
  try {
    const lines = logged();
    for (const { error } of ofUpstream) {
      allows = thrower(error);
      const { errors } = await app.ask('{ events(appName: "shop", userId: "ann", sessionId: "s") { lastSeq } }');
      expect(errors).toMatchObject([{ extensions: { code: 'INTERNAL', status: 500 } }]);
      expect(JSON.stringify(errors)).not.toContain('upstream');
      expect(lines.splice(0)).toHaveLength(1);
    }
  } finally {
    reset();
    jest.restoreAllMocks();
    await app.close();
  }
});

function begin(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname);
}
