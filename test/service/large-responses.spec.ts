import { SessionService } from '../../src/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { storeOfEachKind } from '../support/stores.js';

const OWNER = { appName: 'shop', userId: 'ann' };
const LIMITS = { maxPageBytes: 100_000, maxViewBytes: 100_000 };
const LONG = 'x'.repeat(10_000);

describe.each(storeOfEachKind)('responses over the byte limits on $name', ({ open }) => {
  let store: OpenStorage;
  let sessions: SessionService;

  beforeEach(async () => {
    store = await open({});
    sessions = new SessionService({ storage: store.storage, limits: LIMITS });
  });

  afterEach(() => store.destroy());

  it('are cut: pages have a cursor, views have the newest events', async () => {
    const session = await sessions.createSession({ ...OWNER, sessionId: 's' });
    for (let number = 0; number < 20; number++) {
      await sessions.appendEvent({ session, event: { author: 'user', content: { parts: [{ text: LONG }] } } });
    }
    const key = { ...OWNER, sessionId: 's' };
    const seqs: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await sessions.listEvents({ ...key, cursor, order: 'desc' });
      seqs.push(...page.events.map(({ seq }) => seq));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(seqs).toEqual(Array.from({ length: 20 }, (_, index) => 20 - index));
    const view = await sessions.getSession(key);
    expect(view?.events.map(({ seq }) => seq)).toEqual(Array.from({ length: 9 }, (_, index) => 12 + index));
    expect(view?.eventsTruncated).toBe(true);
  });

  it('are cut for session lists with state, and complete for lists without state', async () => {
    for (let number = 0; number < 12; number++) {
      const state = { 'app:long': LONG, 'user:long': LONG, own: number };
      await sessions.createSession({ ...OWNER, sessionId: `s-${number}`, state });
    }
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await sessions.listSessions({ ...OWNER, cursor });
      expect(page.sessions.length).toBeLessThanOrEqual(4);
      ids.push(...page.sessions.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(new Set(ids).size).toBe(12);
    for (const userId of [OWNER.userId, undefined]) {
      const { sessions: bare } = await sessions.listSessions({ appName: 'shop', userId, includeState: false });
      expect(bare.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      expect(bare.map(({ state }) => state.toRecord())).toEqual(bare.map(() => ({})));
    }
  });
});
