import {
  AgentFailedError,
  AgentSessions,
  type AgentSessionsOptions,
  type RunHandler,
  type RunRequest,
} from '../../src/agents/index.js';
import { InMemorySessionStorage, MissingInstructionValueError, SessionService } from '../../src/index.js';
import { failureReasonOf } from '../../src/agents/errors/failure-reason.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { HeldHandler, call, echo, inShort, partial, response, text } from './support/handlers.js';
import { until } from '../support/until.js';

const REQUEST: RunRequest = { ...KEY, newMessage: 'hi', invocationId: 'i-1' };
const RATE_LIMIT = Object.assign(new Error('my secret'), { status: 429 });

/** Not even `instanceof` can be asked of it. */
const UNREADABLE: unknown = new Proxy({}, { getPrototypeOf: () => failWith(new TypeError('unreadable')) });

function failWith(error: Error): never {
  throw error;
}

/** Fails with this. */
function failing(error: unknown): RunHandler {
  return async function* () {
    yield* [];
    await Promise.resolve();
    throw error;
  };
}

describe('a failure of an agent', () => {
  let app: AgentApp;

  const start = (options?: Partial<AgentSessionsOptions>): void => {
    app = new AgentApp(new InMemorySessionStorage(), options);
  };

  beforeEach(() => start());
  afterEach(() => app.close());

  const failureOf = async (handler: RunHandler, request = REQUEST): Promise<AgentFailedError> => {
    const error = await app.agents.run(request, handler).result.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AgentFailedError);
    return error as AgentFailedError;
  };

  it.each<[string, RunHandler]>([
    [
      'a value that no state can hold',
      async function* (context) {
        context.state.set('places', new Map());
        yield text('hi');
      },
    ],
    [
      'a state that is replaced',
      async function* ({ session }) {
        Object.assign(session, { state: {} });
        yield text('hi');
      },
    ],
    [
      'events that are replaced',
      async function* ({ session }) {
        Object.assign(session, { events: 5 });
        yield text('hi');
      },
    ],
    [
      'a frozen session',
      async function* ({ session }) {
        Object.freeze(session);
        yield text('hi');
      },
    ],
    [
      'an event that is none',
      async function* () {
        yield 5 as never;
      },
    ],
    ['a handler that is no generator', (() => undefined) as never],
    [
      'another session that is missing',
      async function* () {
        yield* [];
        await app.sessions.rewindSession({ ...KEY, sessionId: 'other', toSeq: 0 });
      },
    ],
    [
      'a turn that another session has',
      async function* () {
        yield* [];
        const other = { ...KEY, sessionId: 's-2' };
        await app.sessions.createSession(other);
        await app.sessions.beginTurn(other);
        await app.agents.run({ ...other, newMessage: 'hi' }, echo).result;
      },
    ],
    ['a missing value of a template', failing(new MissingInstructionValueError('user:name'))],
    ['what is no error', failing('secret')],
    ['nothing', failing(undefined)],
    ['what cannot be looked at', failing(UNREADABLE)],
    [
      'what cannot be looked at, by a tool',
      async function* (context) {
        yield call('c1');
        yield await context.callTools({ weather: () => Promise.reject(UNREADABLE) }, { onError: 'fail' });
      },
    ],
  ])('is not an error of the caller: %s', async (_, handler) => {
    const failure = await failureOf(handler);
    expect(failure).toMatchObject({
      code: 'AGENT_FAILED',
      status: 500,
      reason: 'FAULT',
      retryable: false,
      run: { ...KEY, invocationId: 'i-1', agentName: 'agent' },
    });
    expect(failure.cause).toBeDefined();
    expect(app.failures).toEqual([failure]);
    expect(app.errors).toEqual([]);
    expect((await app.log()).at(-1)).toMatchObject({
      errorCode: 'FAILED',
      actions: { failure: { reason: 'FAULT', retryable: false } },
    });
  });

  it('has its reason in the log, and tells nobody else what was thrown', async () => {
    const failure = await failureOf(failing(RATE_LIMIT));
    expect(failure).toMatchObject({ reason: 'RATE_LIMITED', retryable: true, cause: RATE_LIMIT });
    expect((await app.log()).at(-1)).toMatchObject({
      errorCode: 'FAILED',
      errorMessage: 'The agent failed: what it needs was asked too often. Try again later.',
      actions: { failure: { reason: 'RATE_LIMITED', retryable: true } },
    });
    expect(JSON.stringify(await app.log()) + failure.message + failure.publicMessage).not.toContain('secret');
    expect(failure.trace).toContain('my secret');
  });

  it('has the reason that the handler gives', async () => {
    const thrown = new AgentFailedError('UNAVAILABLE', { retryable: false, cause: RATE_LIMIT });
    expect(await failureOf(failing(thrown))).toMatchObject({ reason: 'UNAVAILABLE', retryable: false, cause: thrown });
  });

  it('is the same for a repeated request, and is reported once', async () => {
    const first = await failureOf(failing(RATE_LIMIT));
    const second = await failureOf(echo);
    expect({ ...second }).toEqual({ ...first });
    expect([second.message, second.publicMessage]).toEqual([first.message, first.publicMessage]);
    expect(app.failures).toEqual([first]);
    expect(await app.logInShort()).toEqual(['user hi', 'agent - FAILED']);
  });

  it('is the same for who follows the run, and for the message that it took', async () => {
    const held = new HeldHandler([partial('Hel')], []);
    const first = app.agents.run(REQUEST, async function* (context) {
      yield* held.handler(context);
      await context.takeMessages();
      throw RATE_LIMIT;
    });
    await held.started;
    const following = app.agents.run(REQUEST, echo);
    const merged = app.agents.run({ ...KEY, newMessage: 'and', invocationId: 'i-2', policy: 'merge' }, echo);
    await until(async () => (await app.logInShort()).includes('system queued'));
    held.release();
    for (const { result } of [first, following, merged]) {
      await expect(result).rejects.toMatchObject({ code: 'AGENT_FAILED', reason: 'RATE_LIMITED' });
    }
    expect(app.failures).toHaveLength(1);
  });

  it('is reported although the hook of the app throws', async () => {
    await app.close();
    const broken = new Error('the hook is broken');
    start({
      onRunFailure: () => {
        throw broken;
      },
    });
    expect(await failureOf(failing(RATE_LIMIT))).toMatchObject({ reason: 'RATE_LIMITED' });
    expect(app.errors).toEqual([broken]);
  });

  it('is written on the console, without the fields of errors, if the app has no hook', async () => {
    const warn = jest.spyOn(console, 'warn').mockReturnValue();
    const agents = new AgentSessions({ sessions: app.sessions });
    const thrown = Object.assign(new Error('outer', { cause: RATE_LIMIT }), { headers: { authorization: 'key' } });
    await expect(agents.run(REQUEST, failing(thrown)).result).rejects.toThrow(AgentFailedError);
    const [[line] = []] = warn.mock.calls as string[][];
    warn.mockRestore();
    for (const part of [
      '"i-1"',
      '["shop","ann","s-1"]',
      'RATE_LIMITED',
      'Error: outer',
      'Error: my secret',
      '.spec.ts',
    ])
      expect(line).toContain(part);
    expect(line).not.toContain('authorization');
  });
});

describe('a retry of a failed run', () => {
  const RETRY: RunRequest = { ...REQUEST, retry: true };
  let app: AgentApp;

  beforeEach(async () => {
    app = new AgentApp(new InMemorySessionStorage());
    const first = app.agents.run(REQUEST, async function* () {
      yield call('c1');
      yield response('c1');
      throw RATE_LIMIT;
    });
    await expect(first.result).rejects.toThrow(AgentFailedError);
  });

  afterEach(async () => {
    await app.close();
    expect(app.errors).toEqual([]);
  });

  it('goes on from the log, without a second message', async () => {
    let given: unknown;
    const run = app.agents.run(RETRY, async function* ({ isResumed, history, message }) {
      given = { isResumed, history: inShort(history), message };
      yield text('sunny');
    });
    const { status, events } = await run.result;
    expect(given).toMatchObject({
      isResumed: true,
      history: ['user hi', 'agent ?c1', 'agent !c1', 'agent - FAILED'],
      message: { parts: [{ text: 'hi' }] },
    });
    const answer = ['agent ?c1', 'agent !c1', 'agent - FAILED', 'agent sunny'];
    expect([status, inShort(events)]).toEqual(['completed', answer]);
    expect(await app.logInShort()).toEqual(['user hi', ...answer]);
    for (const repeated of [REQUEST, RETRY]) {
      expect(inShort((await app.agents.run(repeated, echo).result).events)).toEqual(answer);
    }
  });

  it('may fail as well, and be tried again', async () => {
    await expect(app.agents.run(RETRY, failing(new TypeError('a bug'))).result).rejects.toMatchObject({
      reason: 'FAULT',
    });
    await expect(app.agents.run(REQUEST, echo).result).rejects.toMatchObject({ reason: 'FAULT' });
    expect(await app.agents.run(RETRY, echo).result).toMatchObject({ status: 'completed' });
    expect(app.failures).toHaveLength(2);
  });

  it('runs once if it is sent twice at the same time', async () => {
    const held = new HeldHandler();
    const runs = [app.agents.run(RETRY, held.handler)];
    await held.started;
    runs.push(
      app.agents.run(RETRY, failing(new Error('runs twice'))),
      app.agents.run(REQUEST, failing(new Error('runs twice'))),
    );
    held.release();
    for (const { result } of runs) expect(inShort((await result).events).at(-1)).toBe('agent done');
  });

  it.each(['reject', 'enqueue'] as const)('does not overlap with another message, with %s', async (policy) => {
    const held = new HeldHandler();
    const other = app.agents.run({ ...KEY, newMessage: 'other' }, held.handler);
    await held.started;
    const run = app.agents.run({ ...RETRY, policy }, echo);
    if (policy === 'reject') await expect(run.result).rejects.toMatchObject({ code: 'TURN_HELD' });
    held.release();
    await other.result;
    if (policy === 'enqueue') expect(await run.result).toMatchObject({ status: 'completed' });
    const answered = policy === 'enqueue' ? ['agent echo: hi'] : [];
    expect((await app.logInShort()).slice(4)).toEqual(['user other', 'agent done', ...answered]);
  });

  it('is an ordinary request if nothing failed, and needs its id and its message', async () => {
    const unknown = { ...RETRY, invocationId: 'i-2', newMessage: 'new' };
    expect(await app.agents.run(unknown, echo).result).toMatchObject({ status: 'completed' });
    const other = app.agents.run({ ...RETRY, newMessage: 'another one' }, echo);
    await expect(other.result).rejects.toMatchObject({ code: 'EVENT_CONFLICT' });
    expect(() => app.agents.run({ ...KEY, newMessage: 'hi', retry: true }, echo)).toThrow(
      'retry: needs the invocationId',
    );
    expect(() => app.agents.run({ ...REQUEST, retry: 1 as never }, echo)).toThrow('retry');
  });

  it('costs tokens, so that a budget refuses it', async () => {
    await app.close();
    const sessions = new SessionService({
      storage: new InMemorySessionStorage(),
      usage: { budgets: [{ scope: 'session', maxTokens: 1 }] },
    });
    const agents = new AgentSessions({ sessions, onRunFailure: () => undefined });
    const first = agents.run(REQUEST, async function* () {
      yield { ...text('half'), usageMetadata: { totalTokenCount: 5 } };
      throw RATE_LIMIT;
    });
    await expect(first.result).rejects.toThrow(AgentFailedError);
    await expect(agents.run(RETRY, echo).result).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
    await expect(agents.run(REQUEST, echo).result).rejects.toMatchObject({ code: 'AGENT_FAILED' });
  });
});

function withFields(fields: object): Error {
  return Object.assign(new Error('no'), fields);
}

describe('the reason of a failure', () => {
  class APIConnectionTimeoutError extends Error {}

  it.each([
    ['RATE_LIMITED', withFields({ status: 429 })],
    ['RATE_LIMITED', withFields({ response: { status: 429 } })],
    ['RATE_LIMITED', new Error('no', { cause: withFields({ statusCode: 429 }) })],
    ['RATE_LIMITED', withFields({ name: 'AI_RetryError', lastError: withFields({ statusCode: 429 }) })],
    ['RATE_LIMITED', withFields({ name: 'ThrottlingException', $metadata: {} })],
    ['TIMEOUT', new DOMException('no', 'TimeoutError')],
    ['TIMEOUT', new DOMException('no', 'AbortError')],
    ['TIMEOUT', withFields({ code: 'ETIMEDOUT' })],
    ['TIMEOUT', withFields({ status: 504 })],
    ['TIMEOUT', new APIConnectionTimeoutError('no')],
    ['TIMEOUT', new TypeError('fetch failed', { cause: withFields({ code: 'UND_ERR_HEADERS_TIMEOUT' }) })],
    ['UNAVAILABLE', new TypeError('fetch failed', { cause: withFields({ code: 'ECONNREFUSED' }) })],
    ['UNAVAILABLE', withFields({ status: 529 })],
    ['UNAVAILABLE', withFields({ $metadata: { httpStatusCode: 500 } })],
    ['FAULT', withFields({ status: 401 })],
    ['FAULT', withFields({ code: 'ERR_INVALID_ARG_TYPE' })],
    ['FAULT', Object.create(null)],
    ['FAULT', 'no'],
    ['FAULT', undefined],
  ])('is %s for %p', (reason, error) => {
    expect(failureReasonOf(error)).toBe(reason);
  });

  it('is found although an error is its own cause', () => {
    const error = new Error('no');
    error.cause = error;
    expect(failureReasonOf(error)).toBe('FAULT');
  });
});
