import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { type LoggedEvent, type SessionService, SessionNotFoundError } from '../../src/index.js';
import { ProblemError, SessionsClient } from '../../src/client/index.js';
import { type AccessUser, SessionAccess, type StreamLimits } from '../../src/sessions/rest/index.js';
import { GraphqlApp } from '../graphql/graphql-app.js';
import { LiveWatch } from '../graphql/live-watch.js';
import { RestApp, frameworks } from './rest-app.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's' };
const STREAM = '/apps/shop/users/ann/sessions/s/events/stream?afterSeq=0';

/** An access rule that can revoke the access of its only user. */
class RevocableAccess extends SessionAccess {
  isRevoked = false;
  /** How often the rule was called. */
  asked = 0;

  override userOf(): AccessUser {
    return { id: 'ann' };
  }

  allows(): boolean {
    this.asked += 1;
    return !this.isRevoked;
  }
}

const until = async (isMet: () => boolean): Promise<void> => {
  const deadline = AbortSignal.timeout(60_000);
  while (!isMet() && !deadline.aborted) await delay(5);
  expect(isMet()).toBe(true);
};

const append = (sessions: SessionService, number: number): Promise<LoggedEvent> =>
  sessions.appendEvent({ session: SESSION, event: { id: `e-${number}`, author: 'agent' } });

describe.each(frameworks)('a stream on %s', (framework) => {
  let app: RestApp;
  let access: RevocableAccess;
  afterEach(() => app.close());

  const start = async (streams: StreamLimits): Promise<void> => {
    access = new RevocableAccess();
    app = await RestApp.start(framework, { access, streams });
    await app.sessions.createSession(KEY);
  };

  it('ends when access is revoked, with the error of a missing session', async () => {
    await start({ recheckSeconds: 0.02 });
    const response = await fetch(app.url + STREAM);
    await append(app.sessions, 1);
    access.isRevoked = true;
    const said = await response.text();
    expect(said).toContain('id: 1\n');
    const problem: unknown = JSON.parse(/event: problem\ndata: (.+)\n/.exec(said)?.[1] ?? '');
    expect(problem).toMatchObject({
      status: 404,
      code: 'SESSION_NOT_FOUND',
      detail: new SessionNotFoundError('s').message,
    });
  });

  it('ends at its maximum age without a problem, and the client resumes', async () => {
    await start({ maxAgeSeconds: 0.05 });
    expect(await (await fetch(app.url + STREAM)).text()).not.toContain('problem');
    const stream = new SessionsClient({ url: app.url }).watch({ ...KEY, afterSeq: 0 });
    for (let seq = 1; seq <= 3; seq++) {
      const asked = access.asked;
      const next = stream.next();
      await until(() => access.asked > asked + 1);
      await append(app.sessions, seq);
      expect((await next).value).toMatchObject({ seq });
    }
    await stream.return?.();
  });

  it('ends also if its reader does not read', async () => {
    await start({ recheckSeconds: 0.02 });
    const big = 'x'.repeat(500_000);
    for (let number = 1; number <= 20; number++) {
      const event = { author: 'agent', content: { parts: [{ text: big }] } };
      await app.sessions.appendEvent({ session: SESSION, event });
    }
    const response = await fetch(app.url + STREAM);
    const reader = response.body?.getReader();
    const asked = access.asked;
    await until(() => access.asked > asked);
    access.isRevoked = true;
    let said = '';
    const decoder = new TextDecoder();
    for (let chunk = await reader?.read(); chunk?.done === false; chunk = await reader?.read()) {
      said = (said + decoder.decode(chunk.value, { stream: true })).slice(-1_000);
    }
    expect(said).toContain('SESSION_NOT_FOUND');
  });
});

describe('a client whose access to a stream is revoked', () => {
  it('gets the error and does not reconnect', async () => {
    const access = new RevocableAccess();
    const app = await RestApp.start('Express', { access, streams: { recheckSeconds: 0.02 } });
    await app.sessions.createSession(KEY);
    const stream = new SessionsClient({ url: app.url }).watch({ ...KEY, afterSeq: 0 });
    await append(app.sessions, 1);
    expect((await stream.next()).value).toMatchObject({ seq: 1 });
    access.isRevoked = true;
    await expect(stream.next()).rejects.toThrow(ProblemError);
    await app.close();
  });
});

describe('a subscription', () => {
  let app: GraphqlApp;
  let access: RevocableAccess;
  afterEach(() => app.close());

  const start = async (streams: StreamLimits): Promise<LiveWatch> => {
    access = new RevocableAccess();
    app = await GraphqlApp.start({ access, streams });
    await app.sessions.createSession(KEY);
    const stream = new LiveWatch({ url: app.webSocketUrl, variables: { ...KEY, afterSeq: 0 } });
    await append(app.sessions, 1);
    expect((await stream.next()).value).toMatchObject({ seq: 1 });
    return stream;
  };

  it('ends when access is revoked, with the error of a missing session', async () => {
    const stream = await start({ recheckSeconds: 0.02 });
    access.isRevoked = true;
    await expect(stream.next()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND', status: 404 });
    await stream.return();
  });

  it('ends at its maximum age with an error that allows a retry', async () => {
    const stream = await start({ maxAgeSeconds: 0.2 });
    await expect(stream.next()).rejects.toMatchObject({ code: 'STREAM_EXPIRED', status: 503 });
    await stream.return();
  });

  it('ends without other operations of its connection', async () => {
    await (await start({ recheckSeconds: 0.02 })).return();
    const client = createClient({ url: app.webSocketUrl, webSocketImpl: WebSocket, retryAttempts: 0 });
    const query = `subscription { eventAppended(appName: "shop", userId: "ann", sessionId: "s", afterSeq: 0) { seq } }`;
    const events = client.iterate({ query });
    await events.next();
    access.isRevoked = true;
    await expect(events.next()).rejects.toMatchObject([{ extensions: { code: 'SESSION_NOT_FOUND' } }]);
    const { value } = (await client.iterate({ query: '{ __typename }' }).next()) as { value: unknown };
    expect(value).toEqual({ data: { __typename: 'Query' } });
    await client.dispose();
  });
});

describe('the limits of streams', () => {
  it.each([
    {
      streams: { maxAgeSeconds: -1 },
      problem: 'streams.maxAgeSeconds is -1; it must be a number of seconds from 0 on.',
    },
    {
      streams: { recheckSeconds: '5' },
      problem: 'streams.recheckSeconds is "5"; it must be a number of seconds from 0 on.',
    },
    {
      streams: { maxAge: 5 },
      problem:
        'streams.maxAge is no option; there are maxAgeSeconds, recheckSeconds, stallSeconds, maxBufferedBytes, maxStreamsPerClient, trustedProxies.',
    },
  ])('are validated: $streams', async ({ streams, problem }) => {
    const starting = RestApp.start('Express', { access: new RevocableAccess(), streams: streams as StreamLimits });
    await expect(starting).rejects.toMatchObject({ problems: [problem] });
  });
});
