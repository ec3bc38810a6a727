import {
  InMemorySessionStorage,
  type LoggedEvent,
  type Session,
  type SessionPage,
  SessionService,
} from '../../src/index.js';
import { CountingStorage } from '../support/counting-storage.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's' };
const PAGE = 100_000;
/** Nine events of this length fit into a page, with their metadata. */
const LONG = 'x'.repeat(10_000);

const seqs = (events: readonly LoggedEvent[]): number[] => events.map(({ seq }) => seq);
const from = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

const ids = (found: readonly Session[]): string[] => found.map(({ id }) => id);

describe('pages with a byte limit', () => {
  let counting: CountingStorage;
  let sessions: SessionService;

  beforeEach(async () => {
    counting = new CountingStorage(new InMemorySessionStorage());
    sessions = new SessionService({ storage: counting.storage, limits: { maxPageBytes: PAGE } });
  });

  afterEach(() => sessions.close());

  async function create(count: number, state: Record<string, unknown>): Promise<void> {
    for (let number = 1; number <= count; number++) {
      const sessionId = `s-${String(number).padStart(3, '0')}`;
      await sessions.createSession({ appName: 'shop', userId: 'ann', sessionId, ...(number === 1 && { state }) });
    }
  }

  const list = (how: object): Promise<SessionPage> =>
    sessions.listSessions({ appName: 'shop', userId: 'ann', orderBy: 'createTime', order: 'asc', ...how });

  async function log(texts: readonly string[]): Promise<void> {
    await sessions.createSession(KEY);
    for (const text of texts) {
      await sessions.appendEvent({ session: SESSION, event: { author: 'user', content: { parts: [{ text }] } } });
    }
    counting.taken();
  }

  it.each(['asc', 'desc'] as const)('of events are cut, and a cursor walk finds all events: %s', async (order) => {
    await log(Array.from({ length: 40 }, () => LONG));
    const found: number[] = [];
    let cursor: string | undefined;
    do {
      const { events, nextCursor } = await sessions.listEvents({ ...KEY, order, cursor, limit: 1_000 });
      expect(JSON.stringify(events).length).toBeLessThan(PAGE * 1.1);
      expect(events.length).toBe(found.length === 36 ? 4 : 9);
      found.push(...seqs(events));
      cursor = nextCursor;
    } while (cursor !== undefined);
    expect(found).toEqual(order === 'asc' ? from(1, 40) : from(1, 40).toReversed());
  });

  it('contain at least one event, however large', async () => {
    await log(['x'.repeat(500_000), 'y', 'x'.repeat(500_000)]);
    const first = await sessions.listEvents({ ...KEY });
    expect(seqs(first.events)).toEqual([1]);
    const second = await sessions.listEvents({ ...KEY, cursor: first.nextCursor });
    expect(seqs(second.events)).toEqual([2]);
    const third = await sessions.listEvents({ ...KEY, cursor: second.nextCursor });
    expect(seqs(third.events)).toEqual([3]);
    expect(third.nextCursor).toBeUndefined();
  });

  it('are read in batches, so that large events are not all in memory', async () => {
    await log(Array.from({ length: 300 }, () => LONG));
    await sessions.listEvents({ ...KEY, limit: 1_000 });
    expect(counting.taken().events).toBeLessThanOrEqual(32);
  });

  it('of small events contain as many as requested', async () => {
    await log(Array.from({ length: 300 }, () => 'x'));
    const { events, nextCursor } = await sessions.listEvents({ ...KEY, limit: 250 });
    expect(seqs(events)).toEqual(from(1, 250));
    expect(nextCursor).toBeDefined();
    expect(seqs((await sessions.listEvents({ ...KEY, limit: 250, beforeSeq: 21 })).events)).toEqual(from(1, 20));
    expect(seqs((await sessions.listEvents({ ...KEY, limit: 250, afterSeq: 280, order: 'desc' })).events)).toEqual(
      from(281, 300).toReversed(),
    );
  });

  it('do not stop a watch from delivering every event', async () => {
    await log(Array.from({ length: 40 }, () => LONG));
    const found: number[] = [];
    for await (const { seq } of sessions.watch({ ...KEY, afterSeq: 0 })) {
      found.push(seq);
      if (seq === 40) break;
    }
    expect(found).toEqual(from(1, 40));
  });

  describe('of sessions', () => {
    it('are cut if the shared state is large, and a cursor walk finds all sessions', async () => {
      await create(50, { 'user:long': 'x'.repeat(20_000) });
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await list({ limit: 1_000, cursor });
        expect(page.sessions.length).toBeLessThanOrEqual(5);
        found.push(...ids(page.sessions));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(found).toEqual(from(1, 50).map((number) => `s-${String(number).padStart(3, '0')}`));
    });

    it('are complete if the state is not included', async () => {
      await create(50, { 'user:long': 'x'.repeat(20_000) });
      const { sessions: found, nextCursor } = await list({ limit: 1_000, includeState: false });
      expect(found).toHaveLength(50);
      expect(nextCursor).toBeUndefined();
      expect(found[0]?.state.toRecord()).toEqual({});
      expect((await list({ limit: 1 })).sessions[0]?.state.get('user:long')).toHaveLength(20_000);
    });

    it('are refused with page or offset if they are too large, because the next page would skip sessions', async () => {
      await create(10, { 'user:long': 'x'.repeat(20_000) });
      await expect(list({ limit: 10, page: 1 })).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED', path: 'limit' });
      await expect(list({ limit: 10, offset: 2 })).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
      expect(await list({ limit: 4, offset: 2 })).toMatchObject({ totalItems: 10, sessions: { length: 4 } });
      expect(await list({ limit: 10, page: 1, includeState: false })).toMatchObject({ sessions: { length: 10 } });
    });

    it('contain hundreds of sessions if their state is small', async () => {
      await create(150, { 'user:short': 'x' });
      const page = await list({ limit: 140 });
      expect(ids(page.sessions)).toHaveLength(140);
      expect(new Set(ids(page.sessions)).size).toBe(140);
      expect(ids((await list({ limit: 140, cursor: page.nextCursor })).sessions)).toHaveLength(10);
      expect(await list({ limit: 140, offset: 5 })).toMatchObject({ totalItems: 150, sessions: { length: 140 } });
    });

    it('refuse an includeState that is not boolean', async () => {
      await expect(list({ includeState: 'false' })).rejects.toMatchObject({ path: 'includeState' });
    });
  });
});
