import { Injectable, Logger, NotFoundException } from '@nestjs/common';
import {
  type Agent,
  type AgentContext,
  type AgentFailedError,
  AgentHandler,
  AgentsModule,
  type RunHandler,
} from '../../src/agents/index.js';
import { AdkRestModule, AgentsRestModule } from '../../src/agents/rest/index.js';
import { MissingInstructionValueError, SessionNotFoundError } from '../../src/index.js';
import { OpenAccess } from '../../src/sessions/rest/index.js';
import { RestApp, frameworks } from '../rest/rest-app.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const RUN = '/apps/shop/users/ann/sessions/s-1';

const THROWN: Readonly<Record<string, () => unknown>> = {
  'a class of Nest': () => new NotFoundException('secret'),
  'a missing session': () => new SessionNotFoundError('secret'),
  'a missing value': () => new MissingInstructionValueError('secret'),
  'an error of HTTP': () => Object.assign(new Error('secret'), { status: 400 }),
  'a rate limit': () => Object.assign(new Error('secret'), { status: 429 }),
};

@Injectable()
@AgentHandler('shop')
class Failing implements Agent {
  async *run({ message, state, isResumed }: AgentContext): ReturnType<RunHandler> {
    const words = message.parts?.[0]?.text ?? '';
    yield* [];
    if (isResumed) return;
    if (words === 'a map') state.set('secret', new Map());
    else if (words !== 'hello') throw THROWN[words]?.();
    yield { content: { role: 'model', parts: [{ text: 'hi' }] } };
  }
}

describe.each(frameworks)('an agent that fails on %s', (framework) => {
  let app: RestApp;
  let lines: unknown[][];
  let failures: AgentFailedError[];

  beforeEach(async () => {
    lines = [];
    failures = [];
    jest.spyOn(Logger.prototype, 'error').mockImplementation((...line: unknown[]) => void lines.push(line));
    app = await RestApp.start(framework, {
      access: OpenAccess,
      isAccessGlobal: true,
      imports: [
        AgentsModule.forRoot({ isGlobal: true, onRunFailure: (failure) => void failures.push(failure) }),
        AgentsModule.forFeature([Failing]),
        AgentsRestModule.forRoot(),
        AdkRestModule.forRoot(),
      ],
    });
    await app.sessions.createSession(KEY);
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await app.close();
  });

  it.each([...Object.keys(THROWN), 'a map'])('is the fault of the server, which logs it once: %s', async (words) => {
    const reason = words === 'a rate limit' ? 'RATE_LIMITED' : 'FAULT';
    const run = { newMessage: words, invocationId: 'i-1' };
    const failed = await app.request('POST', `${RUN}/run`, run);
    expect(failed).toMatchObject({
      status: 500,
      body: { code: 'AGENT_FAILED', reason, retryable: reason !== 'FAULT', invocationId: 'i-1' },
    });
    expect(lines).toHaveLength(1);
    expect(String(lines[0]?.[0])).toContain(`(${reason}) in the invocation "i-1" of session ["shop","ann","s-1"]`);
    expect(String(lines[0]?.[1])).toMatch(/secret[\s\S]*\.ts:/);
    expect(failures).toMatchObject([{ reason, cause: expect.anything() }]);

    const repeated = await app.request('POST', `${RUN}/run`, run);
    expect([repeated.status, repeated.body]).toEqual([500, failed.body]);
    const streamed = await app.request('POST', `${RUN}/run_sse`, run);
    const ofAdk = await app.request('POST', '/run', { ...KEY, newMessage: { parts: [{ text: words }] } });
    expect(ofAdk).toMatchObject({ status: 500, body: { code: 'AGENT_FAILED', reason } });
    expect(streamed.text).toContain('"code":"AGENT_FAILED"');
    expect([failed, repeated, streamed, ofAdk].map(({ text }) => text).join()).not.toContain('secret');
    expect(lines).toHaveLength(2);

    const retried = await app.request('POST', `${RUN}/run`, { ...run, retry: true });
    expect(retried).toMatchObject({ status: 200, body: [{ errorCode: 'FAILED' }, { turnComplete: true }] });
    expect((await app.request('POST', `${RUN}/run`, run)).body).toEqual(retried.body);
  });

  const touchLog = async (): Promise<void> => {
    await app.sessions.listEvents({ ...KEY, sessionId: 'secret' });
  };

  it('is not what a hook does that fails: the message is refused, and the server logs why', async () => {
    app.sessions.hooks.onBeforeAppend(touchLog);
    const failed = await app.request('POST', `${RUN}/run`, { newMessage: 'hello' });
    expect(failed).toMatchObject({ status: 500, body: { code: 'INTERNAL' } });
    const appended = await app.request('POST', `${RUN}/events`, { author: 'user' });
    expect(appended).toMatchObject({ status: 500, body: { code: 'INTERNAL' } });
    expect(failed.text + appended.text).not.toContain('secret');
    expect(lines).toHaveLength(2);
    expect(lines.join()).toContain('Session "secret" was not found');
  });

  it('fails by a hook that another session is missing for, and says so in its own session', async () => {
    app.sessions.hooks.onBeforeAppend(async ({ event }) => {
      if (event.author === 'shop' && event.errorCode === undefined) await touchLog();
    });
    const failed = await app.request('POST', `${RUN}/run`, { newMessage: 'hello' });
    expect(failed).toMatchObject({ status: 500, body: { code: 'AGENT_FAILED', reason: 'FAULT' } });
    expect(lines).toHaveLength(1);
    const { events } = await app.sessions.listEvents(KEY);
    expect(events.at(-1)).toMatchObject({ author: 'shop', errorCode: 'FAILED' });
  });
});
