import { diagnose } from '../../src/doctor/index.js';
import { type EncryptionOptions, SessionService, encryptedStorage } from '../../src/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { KEY_A, KEY_B } from '../encryption/support.js';
import { testStores } from '../support/stores.js';

const USER = { appName: 'shop', userId: 'ann' };
const KEY = { ...USER, sessionId: 's-1' };
const CANARY = 'canary4712';
const says = (id: string) => ({ id, author: 'user', content: { role: 'user', parts: [{ text: CANARY }] } });

async function fill(sessions: SessionService, sessionId = KEY.sessionId): Promise<void> {
  const state = { step: 1, 'user:name': CANARY };
  const session = await sessions.createSession({ ...USER, sessionId, state, metadata: { title: CANARY } });
  await sessions.appendEvents({ session, events: ['e-1', 'e-2', 'e-3', 'e-4', 'e-5'].map(says) });
  await sessions.whenIdle();
}

describe.each(testStores)('The doctor of an encrypted $name store', ({ open }) => {
  let store: OpenStorage;

  beforeEach(async () => {
    store = await open({});
  });

  afterEach(() => store.destroy());

  const serviceOf = (options: EncryptionOptions = { keys: KEY_A }): SessionService =>
    new SessionService({ storage: encryptedStorage(store.storage, options) });

  /** Writes over events, as somebody with access to the store. */
  async function overwrite(textsOf: (payloads: readonly string[]) => Record<number, string>): Promise<void> {
    const stored = await store.storage.read({ key: KEY, window: { afterSeq: 0, limit: 10, keep: 'oldest' } });
    if (!stored) throw new Error('The session is there');
    const { incarnation, lastSeq } = stored.record;
    const texts = textsOf(stored.events.map(({ payload }) => payload ?? ''));
    const events = stored.events
      .filter(({ seq }) => seq in texts)
      .map(({ seq, id }) => ({ seq, id, payload: texts[seq] ?? '' }));
    expect(await store.storage.rebuild({ key: KEY, incarnation, lastSeq, events })).toBe(true);
  }

  it('finds nothing wrong with what is encrypted', async () => {
    await fill(serviceOf());
    expect(await diagnose({ sessions: serviceOf(), appName: 'shop' })).toMatchObject({ findings: [], events: 5 });
  });

  it('goes on after a text that it cannot open, says of each why, and leaves all of them as they are', async () => {
    await fill(serviceOf());
    await fill(serviceOf(), 's-2');
    await overwrite(([first = '', second = '']) => ({
      2: second.replace('e1.', 'e7.'),
      3: first,
      4: first.replace(/^e1\.[\w-]+\./, 'e1.other.'),
      5: JSON.stringify(says('e-5')),
    }));
    const { text } = await store.raw();
    const found = await diagnose({ sessions: serviceOf(), repair: true });
    expect(found.sessions).toBe(2);
    expect(found.findings.map(({ code, sessionId, detail }) => [code, sessionId, detail.split(':')[0]])).toEqual([
      ['ENCRYPTION_VERSION_UNKNOWN', 's-1', 'event "e-2"'],
      ['ENCRYPTION_KEY_WRONG', 's-1', 'event "e-3"'],
      ['ENCRYPTION_KEY_UNKNOWN', 's-1', 'event "e-4"'],
      ['PLAIN_TEXT_REFUSED', 's-1', 'event "e-5"'],
    ]);
    expect(found).toMatchObject({ isHealthy: false, errors: 4, repaired: 0 });
    expect((await store.raw()).text).toBe(text);
    expect(JSON.stringify(found)).not.toContain(CANARY);
  });

  it.each([
    ['another key of the same id', KEY_B.replace('b:', 'a:'), 'ENCRYPTION_KEY_WRONG'],
    ['a key of another id', KEY_B, 'ENCRYPTION_KEY_UNKNOWN'],
  ])('with %s finds each text, in events, state, metadata and the state of users', async (_name, keys, code) => {
    await fill(serviceOf());
    await fill(serviceOf(), 's-2');
    const { findings, counts } = await diagnose({ sessions: serviceOf({ keys }), appName: 'shop' });
    // Of both sessions: five events, a value of state, the initial state and the title. Of the user: a value.
    expect(counts).toEqual({ [code]: 2 * 8 + 1 });
    expect(findings.filter(({ sessionId }) => sessionId === undefined)).toMatchObject([
      { ...USER, detail: expect.stringMatching(/^user state "name": /) as string },
    ]);
  });

  it('without keys says so of each event', async () => {
    await fill(serviceOf());
    const { findings } = await diagnose({ sessions: new SessionService({ storage: store.storage }), appName: 'shop' });
    const of = findings.filter(({ code }) => code === 'ENCRYPTION_KEY_UNKNOWN');
    expect(findings).toEqual(of);
    expect(of.length).toBeGreaterThan(0);
  });

  it('counts what is older than the encryption while allowPlain is on', async () => {
    await fill(new SessionService({ storage: store.storage }));
    await fill(serviceOf({ keys: KEY_A, allowPlain: true }), 's-2');
    const sessions = serviceOf({ keys: KEY_A, allowPlain: true });
    const { isHealthy, findings } = await diagnose({ sessions, appName: 'shop' });
    expect(isHealthy).toBe(true);
    // Five events, a value of state, the initial state and the title; the user's value was written again.
    expect(findings).toEqual([
      {
        code: 'NOT_ENCRYPTED',
        severity: 'warning',
        appName: 'shop',
        detail: '8 texts are older than the encryption, and may be read by anybody',
        repaired: false,
      },
    ]);
  });
});
