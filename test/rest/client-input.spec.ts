import { InvalidInputError, SessionsClient } from '../../src/client/index.js';
import { REQUEST_NAMES, refuseUnsent } from '../../src/client/request-names.js';

type RequestOf<Method> = Method extends (request: infer Request) => unknown ? Request : never;
type NamesIn<Request> = Request extends unknown ? keyof Request : never;
/** A name that is missing does not compile. */
const NAMES: Record<NamesIn<RequestOf<SessionsClient[keyof SessionsClient]>>, true> = REQUEST_NAMES;

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };

/** What a method answers, or the first event of its stream. */
function firstOf(result: object): Promise<unknown> {
  return 'next' in result ? (result as AsyncIterator<unknown>).next() : (result as Promise<unknown>);
}

describe('input checks of the client', () => {
  const sent: unknown[] = [];
  const client = new SessionsClient({
    url: 'http://localhost',
    fetch: (input) => {
      sent.push(input);
      return Promise.reject(new Error('Nothing should be sent'));
    },
  });

  afterEach(() => {
    expect(sent).toEqual([]);
  });

  it.each(['', '..', '.', ' ', 'a\nb'])('refuse %j as an id, since it would select another path', async (userId) => {
    await expect(client.getState({ ...KEY, userId })).rejects.toBeInstanceOf(InvalidInputError);
    await expect(client.watch({ ...KEY, userId }).next()).rejects.toMatchObject({ path: 'userId' });
  });

  it.each([
    ['NaN', NaN],
    ['a BigInt', 1n],
    ['a Map', new Map()],
    ['undefined in a list', [undefined]],
    ['a lone surrogate', '\ud800'],
  ])('refuse %s, which JSON would change', async (_name, value) => {
    const append = client.appendEvent({ ...KEY, event: { author: 'user', actions: { stateDelta: { k: value } } } });
    await expect(append).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(client.createSession({ ...KEY, state: { k: value } })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
    await expect(client.updateAppState({ ...KEY, stateDelta: { k: value } })).rejects.toBeInstanceOf(InvalidInputError);
  });

  it.each([
    ['createSession', { metadta: {} }, 'metadata'],
    ['getOrCreateSession', { turns_only: true }, 'turnsOnly'],
    ['getSession', { numRecentEvent: 1 }, 'numRecentEvents'],
    ['listSessions', { limt: 1 }, 'limit'],
    ['deleteSession', { expected_version: 1 }, 'expectedVersion'],
    ['appendEvent', { event: { author: 'user' }, expectedVerson: 1 }, 'expectedVersion'],
    ['appendEvents', { events: [{ author: 'user' }], endturn: true }, 'endTurn'],
    ['updateState', { stateDelta: {}, statRemovals: [] }, 'stateRemovals'],
    ['rewindSession', { toseq: 1 }, 'toSeq'],
    ['forkSession', { atseq: 1 }, 'atSeq'],
    ['beginTurn', { holder: 'h', ttlMS: 1 }, 'ttlMs'],
    ['updateAppState', { statedelta: {} }, 'stateDelta'],
    ['getUsage', { perod: 'month' }, 'period'],
    ['watch', { aftrSeq: 1 }, 'afterSeq'],
    ['createSummary', { Force: true }, 'force'],
    ['runAgent', { newMessage: 'hi', polcy: 'reject' }, 'policy'],
    ['streamAgent', { newMessage: 'hi', retri: true }, 'retry'],
    ['stopAgent', { invocationID: 'i' }, 'invocationId'],
    ['listApprovals', { limits: 1 }, 'limit'],
    ['answerApproval', { approvalId: 'a', confirmed: true, payLoad: 1 }, 'payload'],
  ] as const)('refuse a field of %s in another spelling: %j', async (method, fields, meant) => {
    const asked = firstOf(client[method]({ ...KEY, ...fields } as never));
    await expect(asked).rejects.toThrow(`did you mean ${meant}?`);
  });

  it.each([
    ['runAgent', { newMessage: 'hi', timeoutMs: Infinity }, 'timeoutMs'],
    ['streamAgent', { newMessage: 'hi', idleTimeoutMs: 2 ** 31 }, 'idleTimeoutMs'],
    ['answerApproval', { approvalId: 'a', confirmed: true, timeoutMs: 0 }, 'timeoutMs'],
    ['createSummary', { timeoutMs: 2 ** 31 }, 'timeoutMs'],
    ['watch', { afterSeq: 1, idleTimeoutMs: Infinity }, 'idleTimeoutMs'],
  ] as const)('refuse a time of %s that a timer cannot wait: %j', async (method, fields, path) => {
    const asked = firstOf(client[method]({ ...KEY, ...fields } as never));
    await expect(asked).rejects.toMatchObject({ code: 'INVALID_INPUT', path });
  });

  it.each([
    ['searchEvents', { text: 'a\ud800' }, 'text'],
    ['searchEvents', { text: 'a', sessionId: '\ud800' }, 'sessionId'],
    ['searchEvents', { text: 'a', sessionId: { id: 's' } }, 'sessionId'],
    ['listEvents', { invocationId: 'x\udfff' }, 'invocationId'],
    ['stateChanges', { key: '\ud800' }, 'key'],
    ['getOrCreateSession', { sessionId: 7 }, 'sessionId'],
  ] as const)('refuse in a query what a URL would change: %s %j', async (method, fields, path) => {
    const asked = client[method]({ ...KEY, ...fields } as never) as Promise<unknown>;
    await expect(asked).rejects.toMatchObject({ code: 'INVALID_INPUT', path });
  });

  it('take the fields of all methods, and others that are like none of them', async () => {
    for (const name of Object.keys(NAMES)) expect(() => refuseUnsent({ [name]: 1 })).not.toThrow();
    expect(() => refuseUnsent({ number: 1, expiresAt: 2, lastUpdateTime: 3, agentName: 'a', tool: 't' })).not.toThrow();
  });

  it('refuse an option in another spelling', () => {
    const options = { url: '/api', timeoutms: 5 };
    expect(() => new SessionsClient(options)).toThrow('did you mean timeoutMs?');
  });

  it('refuse an invalid URL', () => {
    expect(() => new SessionsClient({ url: 'localhost:3000' })).toThrow(InvalidInputError);
    for (const url of ['http://localhost:3000', 'https://a.example/api', '/api']) {
      expect(new SessionsClient({ url })).toBeInstanceOf(SessionsClient);
    }
  });

  it('return partial events', async () => {
    const event = { author: 'agent', partial: true } as const;
    expect(await client.appendEvent({ ...KEY, event })).toBe(event);
  });
});

describe('the client without Node', () => {
  const ofNode = ['Buffer', 'process', 'setImmediate'] as const;
  const hidden = ofNode.map((name) => [name, globalThis[name]] as const);

  beforeAll(() => {
    for (const name of ofNode) Reflect.deleteProperty(globalThis, name);
  });

  afterAll(() => {
    for (const [name, value] of hidden) Object.assign(globalThis, { [name]: value });
  });

  it('works with browser APIs only', async () => {
    const asked: unknown[] = [];
    const client = new SessionsClient({
      url: '/api',
      fetch: async (input) => {
        asked.push(input);
        return Response.json({ id: 'e-1', seq: 1 });
      },
    });
    const key = { ...KEY, sessionId: '\u{1f600}'.repeat(47) };
    await client.createSession({ ...key, state: { step: 1 } });
    await client.appendEvent({ ...key, event: { author: 'user', content: { parts: [{ text: 'Hello' }] } } });
    await client.updateUserState({ ...key, stateDelta: { theme: 'dark' } });
    await expect(client.getState({ ...key, userId: 'é'.repeat(96) })).rejects.toMatchObject({ path: 'userId' });
    expect(asked).toHaveLength(3);
  });
});
