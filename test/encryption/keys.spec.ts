import {
  type EncryptionOptions,
  InMemorySessionStorage,
  type KeyWrapper,
  type SessionService,
} from '../../src/index.js';
import { SessionService as Service } from '../../src/index.js';
import { encryptedStorage } from '../../src/sessions/encryption/encrypted-storage.js';
import type { SessionStorage } from '../../src/storage.js';
import { ManualClock } from '../../src/testing/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { recordedCalls } from './recorded-entries.js';
import { storeOfEachKind } from '../support/stores.js';
import { KEY_A, KEY_B } from './support.js';

const USER = { appName: 'shop', userId: 'ann' };
const KEY = { ...USER, sessionId: 's-1' };
const says = (id: string) => ({ id, author: 'user', content: { role: 'user', parts: [{ text: `text of ${id}` }] } });

async function textsIn(sessions: SessionService, key = KEY): Promise<(string | undefined)[]> {
  const session = await sessions.getSession(key);
  return (session?.events ?? []).map(({ content }) => content?.parts?.[0]?.text);
}

describe.each(storeOfEachKind)('Data keys in a $name store', ({ open }) => {
  let store: OpenStorage;
  let clock: ManualClock;

  beforeEach(async () => {
    clock = new ManualClock();
    store = await open({ clock });
  });

  afterEach(() => store.destroy());

  /** Another process over the same store. */
  function process(options: EncryptionOptions = { keys: KEY_A }, storage: SessionStorage = store.storage) {
    const encrypted = encryptedStorage(storage, options, clock);
    return { storage: encrypted, sessions: new Service({ storage: encrypted, clock }) };
  }

  it('are made by one of several processes, and used by all', async () => {
    const processes = Array.from({ length: 4 }, () => process());
    await Promise.all(
      processes.map(({ sessions }, index) =>
        sessions.createSession({ ...USER, sessionId: `s-${index}`, state: { step: index } }),
      ),
    );
    for (const { sessions } of [...processes, process()])
      for (const index of processes.keys())
        expect((await sessions.getSession({ ...USER, sessionId: `s-${index}` }))?.state.get('step')).toBe(index);
  });

  it('cost no look at the store once they are known, until their time is over', async () => {
    const { storage, calls } = recordedCalls(store.storage);
    const { sessions } = process({ keys: KEY_A, cacheSeconds: 60 }, storage);
    const session = await sessions.createSession({ ...KEY, state: { 'app:a': 1, 'user:b': 2 } });
    expect(calls()).toEqual(['find', 'write', 'find', 'write']);
    for (const id of ['e-1', 'e-2', 'e-3'])
      await sessions.appendEvent({ session, event: { ...says(id), actions: { stateDelta: { 'app:a': id, c: id } } } });
    await sessions.getSession(KEY);
    await sessions.listSessions(USER);
    expect(calls()).toEqual([]);
    clock.advance(60_001);
    await sessions.appendEvent({ session, event: says('e-4') });
    await sessions.appendEvent({ session, event: says('e-5') });
    expect(calls()).toEqual(['find']);
  });

  it('of many users are read together', async () => {
    const users = Array.from({ length: 12 }, (_, index) => `user ${index}`);
    const first = process();
    for (const userId of users) await first.sessions.createSession({ appName: 'shop', userId, state: { of: userId } });
    const { storage, calls } = recordedCalls(store.storage);
    const { sessions } = process({ keys: KEY_A }, storage);
    const page = await sessions.listSessions({ appName: 'shop' });
    expect(new Set(page.sessions.map((session) => session.state.get('of')))).toEqual(new Set(users));
    expect(calls()).toEqual(['find']);
  });

  it('are not made by writes to sessions that are missing', async () => {
    const { sessions } = process();
    const append = sessions.appendEvent({ session: { ...USER, id: 's-1' }, event: says('e-1') });
    await expect(append).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    expect((await store.raw()).text).not.toContain('wrapped');
  });

  it('are wrapped again by a new key, while old processes work on, and need the old one no more', async () => {
    const old = process({ keys: KEY_A });
    const session = await old.sessions.createSession({ ...KEY, state: { 'app:a': 1 } });
    await old.sessions.appendEvent({ session, event: says('e-1') });
    const both = process({ keys: `${KEY_B},${KEY_A}` });
    expect(await both.storage.keys.rotate({ renews: false })).toEqual({ owners: 2, rewrapped: 2, renewed: 0 });
    expect(await both.storage.keys.rotate({ renews: false })).toEqual({ owners: 2, rewrapped: 0, renewed: 0 });
    await old.sessions.appendEvent({ session, event: says('e-2') });
    const fresh = process({ keys: KEY_B });
    expect(await textsIn(fresh.sessions)).toEqual(['text of e-1', 'text of e-2']);
    expect(await fresh.sessions.getAppState({ appName: 'shop' })).toEqual({ a: 1 });
    await expect(textsIn(process({ keys: KEY_A }).sessions)).rejects.toMatchObject({
      code: 'ENCRYPTION_KEY_UNKNOWN',
      keyId: 'b',
    });
  });

  it('are replaced for new texts, and open the old ones, in all processes', async () => {
    const [one, two] = [process(), process()];
    const session = await one.sessions.createSession(KEY);
    await one.sessions.appendEvent({ session, event: says('e-1') });
    await two.sessions.getSession(KEY);
    await one.storage.keys.rotate({ renews: true });
    await one.sessions.appendEvent({ session, event: says('e-2') });
    const stored = await store.storage.read({ key: KEY, window: {} });
    expect(new Set(stored?.events.map(({ payload }) => payload?.split('.')[1])).size).toBe(2);
    expect(await textsIn(two.sessions)).toEqual(['text of e-1', 'text of e-2']);
    await two.sessions.appendEvent({ session: { ...USER, id: 's-1' }, event: says('e-3') });
    expect(await textsIn(one.sessions)).toEqual(['text of e-1', 'text of e-2', 'text of e-3']);
  });

  it('are destroyed with their user, so that a copy of the store cannot be read', async () => {
    const { storage, sessions } = process();
    const session = await sessions.createSession(KEY);
    await sessions.appendEvent({ session, event: says('e-1') });
    const backup = await store.storage.read({ key: KEY, window: {} });
    await sessions.createSession({ appName: 'shop', userId: 'bob', sessionId: 's-1', state: { kept: true } });
    await sessions.eraseUser(USER);
    expect((await store.raw()).text).not.toContain(JSON.stringify(['shop', 'ann']).slice(1, -1));
    const [payload] = backup?.events.map((event) => event.payload) ?? [];
    const key = await storage.keys.ensured(USER);
    expect(key.find(payload?.split('.')[1] ?? '')).toBeUndefined();
    const bob = await sessions.getSession({ appName: 'shop', userId: 'bob', sessionId: 's-1' });
    expect(bob?.state.get('kept')).toBe(true);
  });

  it.each([
    ['current() returns no text', { current: () => undefined }],
    ['current() returns a promise', { current: async () => 'k' }],
    ['wrap() returns bytes', { wrap: (key: Uint8Array) => Buffer.from(key) }],
    ['wrap() returns nothing', { wrap: () => '' }],
    ['unwrap() returns something else', { unwrap: () => Buffer.alloc(32) }],
    ['unwrap() returns a text', { unwrap: (wrapped: string) => wrapped }],
  ])('are not made by a wrapper whose %s, since nobody could read them after a restart', async (_how, wrong) => {
    const good: KeyWrapper = {
      current: () => 'k',
      wrap: (key) => Buffer.from(key).toString('base64'),
      unwrap: (wrapped) => Buffer.from(wrapped, 'base64'),
    };
    const { sessions } = process({ wrapper: { ...good, ...wrong } as KeyWrapper });
    await expect(sessions.createSession(KEY)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('The wrapper of keys is wrong') as unknown,
    });
    const { sessions: mended } = process({ wrapper: good });
    await mended.createSession({ ...KEY, state: { a: 1 } });
    expect((await process({ wrapper: good }).sessions.getSession(KEY))?.state.get('a')).toBe(1);
  });

  it('of a service that does not answer make a call fail in time', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    try {
      const wrapper: KeyWrapper = {
        current: () => 'k',
        wrap: () => new Promise(() => undefined),
        unwrap: () => '' as never,
      };
      const refused = process({ wrapper }, new InMemorySessionStorage()).sessions.createSession(KEY);
      const expected = expect(refused).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      await jest.advanceTimersByTimeAsync(10_000);
      await expected;
    } finally {
      jest.useRealTimers();
    }
  });

  it('of a service that is away make a call fail, and none after it is back', async () => {
    let isAway = false;
    const plain = Buffer.alloc(32, 'kms');
    const wrapper: KeyWrapper = {
      current: () => 'k',
      wrap: (dataKey, { keyId }) =>
        `${keyId} ${Buffer.from(dataKey.map((byte, index) => byte ^ (plain[index] ?? 0))).toString('base64')}`,
      unwrap(wrapped, { keyId }) {
        if (isAway) throw new Error(`no answer for secret ${wrapped}`);
        const [id, text = ''] = wrapped.split(' ');
        if (id !== keyId) throw new Error('another context');
        return Buffer.from(text, 'base64').map((byte, index) => byte ^ (plain[index] ?? 0));
      },
    };
    await process({ wrapper }).sessions.createSession({ ...KEY, state: { a: 1 } });
    const { sessions } = process({ wrapper });
    isAway = true;
    const refused = sessions.getSession(KEY);
    await expect(refused).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      outcomeUnknown: false,
      message: expect.not.stringContaining('secret') as unknown,
    });
    isAway = false;
    expect((await sessions.getSession(KEY))?.state.get('a')).toBe(1);
  });
});
