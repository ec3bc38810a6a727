import { ComponentSession } from '../../src/components/index.js';
import { type EncryptionOptions, SessionRetention, SessionService } from '../../src/index.js';
import { SessionSearch } from '../../src/search/index.js';
import { encryptedStorage } from '../../src/sessions/encryption/encrypted-storage.js';
import { NEVER, type SessionStorage } from '../../src/storage.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { exportSessions, findErasure, importSessions } from '../../src/transfer/index.js';
import { storeOfEachEncoding } from '../support/stores.js';
import { CANARY_KEY, writeEverywhere } from './canary-writes.js';
import { KEY_A, KEY_B } from './support.js';

const CANARY = 'canary4711';
const USER = { appName: 'shop', userId: 'ann' };
const KEY = { ...USER, sessionId: 's-1' };
const says = (id: string, text = `text of ${id}`) => ({
  id,
  author: 'user',
  content: { role: 'user', parts: [{ text }] },
});

describe.each(storeOfEachEncoding)('Encrypted texts in a $name store', ({ open }) => {
  let store: OpenStorage;

  beforeEach(async () => {
    store = await open({});
  });

  afterEach(() => store.destroy());

  function encrypted(options: EncryptionOptions = { keys: KEY_A }): SessionStorage {
    return encryptedStorage(store.storage, options);
  }

  function serviceOf(options?: EncryptionOptions): SessionService {
    return new SessionService({ storage: encrypted(options) });
  }

  it('are nowhere in the store as they were written, and all of them come back', async () => {
    await writeEverywhere(encrypted(), CANARY);
    const { text } = await store.raw();
    expect(text).toContain(CANARY_KEY.sessionId);
    expect(text).not.toContain(CANARY);
    const sessions = serviceOf();
    const session = await sessions.getSession(CANARY_KEY);
    expect(session?.metadata.title).toBe(`title 2 ${CANARY}`);
    for (const key of ['own', 'user:own', 'app:own', 'changed', 'user:updated'])
      expect(session?.state.get(key)).toBe(CANARY);
    expect(session?.state.get('app:changed')).toEqual([CANARY]);
    expect((await sessions.listEvents(CANARY_KEY)).events.map(({ content }) => content?.parts?.[0]?.text)).toEqual(
      Array.from({ length: 4 }, () => `says ${CANARY}`),
    );
    expect((await sessions.getModelRequest({ ...CANARY_KEY, seq: 2 }))?.instructions?.value).toBe(`prompt ${CANARY}`);
    const components = new ComponentSession({ sessions });
    expect(await components.get(CANARY_KEY, 'memory')).toEqual({ value: CANARY });
    expect(await components.get('a name of the app', 'memory')).toEqual({ value: CANARY });
  });

  it('are errors with another key or none, and never an empty history', async () => {
    const session = await serviceOf().createSession({ ...KEY, state: { step: 1 }, metadata: { title: CANARY } });
    await serviceOf().appendEvent({ session, event: says('e-1', CANARY) });
    const wrong = KEY_B.replace('b:', 'a:');
    const readers: [SessionService, string][] = [
      [serviceOf({ keys: wrong }), 'ENCRYPTION_KEY_WRONG'],
      [serviceOf({ keys: KEY_B }), 'ENCRYPTION_KEY_UNKNOWN'],
      [new SessionService({ storage: store.storage }), 'ENCRYPTION_KEY_UNKNOWN'],
    ];
    for (const [sessions, code] of readers) {
      const calls = [
        sessions.getSession(KEY),
        sessions.listEvents(KEY),
        sessions.stateAt({ ...KEY, seq: 1 }),
        sessions.appendEvent({ session: { ...USER, id: 's-1' }, event: says('e-1', CANARY) }),
      ];
      for (const answer of await Promise.allSettled(calls)) {
        const reason = answer.status === 'rejected' ? (answer.reason as Error) : undefined;
        expect(reason).toMatchObject({ code, publicMessage: expect.not.stringContaining('key') as unknown });
        expect(reason?.message).not.toContain(CANARY);
      }
    }
  });

  it('do not fail the list of the others, where such a session says why, and has what is plain', async () => {
    const metadata = { title: CANARY, status: 'open', fields: { secret: CANARY } };
    await serviceOf().createSession({ ...KEY, state: { step: 1 }, metadata });
    await serviceOf({ keys: KEY_B }).createSession({ appName: 'shop', userId: 'bob', metadata: { title: 'of bob' } });
    const onBackgroundError = jest.fn();
    const sessions = new SessionService({ storage: encrypted({ keys: KEY_B }), onBackgroundError });
    for (const includeState of [true, false]) {
      const { sessions: listed } = await sessions.listSessions({
        appName: 'shop',
        includeState,
        orderBy: 'createTime',
        order: 'asc',
      });
      expect(listed).toMatchObject([
        { id: 's-1', version: 0, unreadable: 'ENCRYPTION_KEY_UNKNOWN', metadata: { status: 'open', fields: {} } },
        { userId: 'bob', metadata: { title: 'of bob' } },
      ]);
      expect(listed.map(({ metadata: { title }, state }) => [title, state.toJSON()])).toEqual([
        [undefined, {}],
        ['of bob', {}],
      ]);
      expect(Object.keys(listed[1] ?? {})).not.toContain('unreadable');
    }
    expect(onBackgroundError.mock.calls).toEqual([[expect.objectContaining({ code: 'ENCRYPTION_KEY_UNKNOWN' })]]);
    await expect(sessions.getSession(KEY)).rejects.toMatchObject({ code: 'ENCRYPTION_KEY_UNKNOWN' });
  });

  it('have no part in a list that does not ask for them', async () => {
    const shared = { appName: 'shop', userId: 'ann' };
    await serviceOf().updateUserState({ ...shared, stateDelta: { theme: CANARY } });
    const other = encryptedStorage(store.storage, { keys: KEY_B });
    await serviceOf().createSession(KEY);
    const sessions = new SessionService({ storage: other, onBackgroundError: jest.fn() });
    const unreadableIn = async (includeState: boolean) =>
      (await sessions.listSessions({ ...USER, includeState })).sessions.map(({ unreadable }) => unreadable);
    expect(await unreadableIn(true)).toEqual(['ENCRYPTION_KEY_UNKNOWN']);
    expect(await unreadableIn(false)).toEqual([undefined]);
  });

  it('that somebody moved to another user, or wrote in another form, are errors', async () => {
    const sessions = serviceOf();
    await sessions.createSession({ ...KEY, state: { 'user:limit': 'high' } });
    await sessions.createSession({ appName: 'shop', userId: 'bob', sessionId: 's-1', state: { 'user:limit': 'low' } });
    const [[name, value] = ['', '']] = await store.storage.readState(USER);
    const owner = { appName: 'shop', userId: 'bob' };
    const write = (moved: string) =>
      store.storage.writeState({
        owner,
        upserts: [{ scope: 'user', name, value: moved }],
        removals: [],
        lifetime: { ttlMs: NEVER, renewBelowMs: 0 },
      });
    await write(value);
    await expect(sessions.getUserState(owner)).rejects.toMatchObject({ code: 'ENCRYPTION_KEY_UNKNOWN' });
    await write(value.replace('e1.', 'e7.'));
    await expect(sessions.getUserState(owner)).rejects.toMatchObject({ code: 'ENCRYPTION_VERSION_UNKNOWN' });
    await write('"high"');
    await expect(sessions.getUserState(owner)).rejects.toMatchObject({ code: 'PLAIN_TEXT_REFUSED' });
  });

  it('are one for short values of a scope that are set together, of which each is changed alone', async () => {
    const sessions = serviceOf();
    const long = CANARY.repeat(20);
    const state = { 'user:a': 1, 'user:b': [CANARY], 'user:long': long, own: CANARY, 'app:a': 2 };
    await sessions.createSession({ ...KEY, state });
    const stored = new Map(await store.storage.readState(USER));
    expect(stored.get('b')).toBe(stored.get('a'));
    expect(new Set(stored.values()).size).toBe(2);
    await sessions.updateUserState({ ...USER, stateDelta: { 'user:a': 2 } });
    const others = serviceOf();
    expect((await others.getSession(KEY))?.state.toJSON()).toEqual({ ...state, 'user:a': 2 });
    expect((await store.raw()).text).not.toContain(CANARY);
    const [moved = ''] = [...stored.values()];
    const upserts = [{ scope: 'user', name: 'd', value: moved }] as const;
    await store.storage.writeState({ owner: USER, upserts, removals: [], lifetime: { ttlMs: NEVER, renewBelowMs: 0 } });
    await expect(others.getUserState(USER)).rejects.toMatchObject({ code: 'ENCRYPTION_KEY_WRONG' });
  });

  it('may follow older ones that are not encrypted while allowPlain is on, also of components', async () => {
    const before = new SessionService({ storage: store.storage });
    const session = await before.createSession({ ...KEY, state: { step: 1 }, metadata: { title: 'old', tags: ['t'] } });
    await before.appendEvent({ session, event: says('e-1') });
    await new ComponentSession({ sessions: before }).saveList(KEY, 'memory', ['one']);
    await expect(serviceOf().getSession(KEY)).rejects.toMatchObject({ code: 'PLAIN_TEXT_REFUSED' });
    const sessions = serviceOf({ keys: KEY_A, allowPlain: true });
    const append = (id: string) => sessions.appendEvent({ session: { ...USER, id: 's-1' }, event: says(id) });
    await append('e-2');
    expect(await append('e-1')).toMatchObject({ seq: 1 });
    const components = new ComponentSession({ sessions });
    const loaded = await components.getListVersioned<string>(KEY, 'memory');
    await components.saveList(KEY, 'memory', ['one', CANARY], { loaded });
    expect(await components.getList(KEY, 'memory')).toEqual(['one', CANARY]);
    const found = await sessions.getSession(KEY);
    expect(found?.events.map(({ id }) => id)).toEqual(['e-1', 'e-2']);
    expect(found?.state.get('step')).toBe(1);
    expect((await store.raw()).text).not.toContain(CANARY);
  });

  it('are those of the target after a transfer', async () => {
    await writeEverywhere(encrypted(), CANARY);
    const lines: string[] = [];
    for await (const line of exportSessions(serviceOf())) lines.push(line);
    expect(lines.join('')).toContain(CANARY);
    const target = await open({});
    const storage = encryptedStorage(target.storage, { keys: KEY_B });
    await importSessions(new SessionService({ storage }), lines);
    expect((await target.raw()).text).not.toContain(CANARY);
    const moved = await new SessionService({ storage }).getSession(CANARY_KEY);
    expect(moved?.metadata.title).toBe(`title 2 ${CANARY}`);
    await target.destroy();
  });

  it('are found by a search, which reads them, since there is no index of words', async () => {
    const sessions = serviceOf();
    const session = await sessions.createSession(KEY);
    await sessions.appendEvent({ session, event: says('e-1', `about ${CANARY}`) });
    const search = new SessionSearch({ sessions });
    expect(search.hasIndex).toBe(false);
    await search.start();
    expect((await search.searchEvents({ ...USER, text: CANARY })).hits.map(({ id }) => id)).toEqual(['e-1']);
    await search.stop();
    expect((await store.raw()).text).not.toContain(CANARY);
  });

  it('include why a user was erased, and which labels are held', async () => {
    const sessions = serviceOf({ keys: KEY_A, metadata: 'sealed' });
    await sessions.createSession({ ...KEY, metadata: { labels: { held: CANARY } } });
    await sessions.eraseUser({ appName: 'shop', userId: 'bob', reason: `letter of ${CANARY}` });
    await new SessionRetention({ sessions, rules: [], hold: { labels: { held: CANARY } } }).apply();
    const { text } = await store.raw();
    expect(text).toContain('erasures');
    expect(text).not.toContain(CANARY);
    const others = serviceOf({ keys: KEY_A, metadata: 'sealed' });
    expect(await findErasure(others, { appName: 'shop', userId: 'bob' })).toMatchObject({
      reason: `letter of ${CANARY}`,
    });
    await expect(others.deleteSession(KEY)).rejects.toMatchObject({ code: 'SESSION_HELD' });
  });

  it('include tags and labels if metadata is sealed, and no filter leaves sessions out in silence', async () => {
    const sessions = serviceOf({ keys: KEY_A, metadata: 'sealed' });
    const metadata = { status: CANARY, tags: [`tag ${CANARY}`], labels: { [`of ${CANARY}`]: CANARY } };
    const session = await sessions.createSession({ ...KEY, metadata });
    const metadataDelta = { tags: { remove: [`tag ${CANARY}`], add: ['other'] } };
    await sessions.appendEvent({ session, event: { author: 'system', actions: { metadataDelta } } });
    const found = await sessions.getSession(KEY);
    expect(found?.metadata).toMatchObject({ status: CANARY, tags: ['other'], labels: { [`of ${CANARY}`]: CANARY } });
    expect((await store.raw()).text).not.toContain(CANARY);
    await expect(sessions.listSessions({ ...USER, filter: { tags: ['other'] } })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
  });
});
