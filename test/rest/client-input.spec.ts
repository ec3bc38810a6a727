import { InvalidInputError, SessionsClient } from '../../src/client/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };

describe('the client, before it sends anything,', () => {
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

  it.each(['', '..', '.', ' ', 'a\nb'])('refuses %j as an id: it would lead to another path', async (userId) => {
    await expect(client.getState({ ...KEY, userId })).rejects.toBeInstanceOf(InvalidInputError);
    await expect(client.watch({ ...KEY, userId }).next()).rejects.toMatchObject({ path: 'userId' });
  });

  it.each([
    ['NaN', NaN],
    ['a BigInt', 1n],
    ['a Map', new Map()],
    ['undefined in a list', [undefined]],
    ['a lone surrogate', '\ud800'],
  ])('refuses %s, which JSON would change on the way', async (_name, value) => {
    const append = client.appendEvent({ ...KEY, event: { author: 'user', actions: { stateDelta: { k: value } } } });
    await expect(append).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(client.createSession({ ...KEY, state: { k: value } })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
    await expect(client.updateAppState({ ...KEY, stateDelta: { k: value } })).rejects.toBeInstanceOf(InvalidInputError);
  });

  it('refuses an address that fetch would not find', () => {
    expect(() => new SessionsClient({ url: 'localhost:3000' })).toThrow(InvalidInputError);
    for (const url of ['http://localhost:3000', 'https://a.example/api', '/api']) {
      expect(new SessionsClient({ url })).toBeInstanceOf(SessionsClient);
    }
  });

  it('hands partial events back', async () => {
    const event = { author: 'agent', partial: true } as const;
    expect(await client.appendEvent({ ...KEY, event })).toBe(event);
  });
});

describe('the client, where Node is not,', () => {
  const ofNode = ['Buffer', 'process', 'setImmediate'] as const;
  const hidden = ofNode.map((name) => [name, globalThis[name]] as const);

  beforeAll(() => {
    for (const name of ofNode) Reflect.deleteProperty(globalThis, name);
  });

  afterAll(() => {
    for (const [name, value] of hidden) Object.assign(globalThis, { [name]: value });
  });

  it('does what it does anywhere else', async () => {
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
