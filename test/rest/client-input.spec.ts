import { InvalidInputError, SessionsClient } from '../../src/client/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };

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
