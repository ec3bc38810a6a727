import { type SessionService, StoreUnavailableError } from '../../src/index.js';
import { isCommitRequest, losingNextCommitResponse, droppingCommitResponses } from '../support/commit-faults.js';
import { randomNumbers, seed } from '../support/random.js';
import type { ServerOptions } from '../../src/typeorm.js';
import { type SqlBench, describeSqlServersWithTables } from '../support/sql-bench.js';
import type { TcpProxy } from '../support/tcp-proxy.js';
import { rounds } from '../support/rounds.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
/** For calls without a response, which take this long. A busy machine must reach the commit within it. */
const LIMIT_MS = 2_000;
/** For calls that get a response or lose their connection. Even a busy machine does not reach it. */
const GENEROUS_LIMIT_MS = 60_000;
/** Enough for a slow machine, while a hanging call never ends. */
const SLACK_MS = 10_000;
const LOSSES = rounds(100);
/** With a lifetime of user state, appends use transactions with a read before the writes. */
const IN_TRANSACTIONS = { enabled: true, sessionSeconds: 0, userStateSeconds: 3_600 };

describeSqlServersWithTables(`A $name store behind an unreliable network (SEED=${seed})`, (bench) => {
  let proxy: TcpProxy;
  let behind: Partial<ServerOptions>;
  let sessions: SessionService;

  beforeEach(async () => {
    ({ proxy, behind } = await bench().proxy());
    sessions = bench().sessions({ ...behind, timeLimitMs: GENEROUS_LIMIT_MS, service: { ttl: IN_TRANSACTIONS } });
    await sessions.createSession(KEY);
  });

  /** A service with the short limit, whose pool has connections. */
  async function withShortTimeLimit(): Promise<SessionService> {
    const made = bench().sessions({ ...behind, timeLimitMs: LIMIT_MS });
    await made.getSession(KEY);
    return made;
  }

  it(`appends each event once if ${LOSSES} answers to commits are lost`, async () => {
    for (let number = 1; number <= LOSSES; number++) {
      const event = eventOf(number);
      proxy.filter = losingNextCommitResponse(bench().name);
      const lost = sessions.appendEvent({ session: SESSION, event });
      await expect(lost).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', outcomeUnknown: true, eventId: event.id });
      const again = await sessions.append({ session: SESSION, event });
      expect(again).toMatchObject({ duplicate: true, event: { seq: number } });
    }
    await expectOnce(bench(), sessions, LOSSES);
  });

  it('appends each batch once if answers to commits are lost', async () => {
    for (let number = 1; number <= 20; number++) {
      const events = ['a', 'b', 'c'].map((part) => ({ ...eventOf(number), id: `${part}${number}` }));
      proxy.filter = losingNextCommitResponse(bench().name);
      const lost = sessions.appendEvents({ session: SESSION, events });
      const eventIds = events.map(({ id }) => id);
      await expect(lost).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', outcomeUnknown: true, eventIds });
      const again = await sessions.appendBatch({ session: SESSION, events });
      expect(again).toMatchObject({ duplicate: true, events: eventIds.map((id) => ({ id })) });
    }
    expect((await sessions.getSession(KEY))?.version).toBe(60);
    await bench().checkIntegrity();
  });

  it('reports an unknown outcome for a commit that never arrived, and has not written it', async () => {
    for (let number = 1; number <= 10; number++) {
      const event = eventOf(number);
      proxy.filter = (piece) => (isCommitRequest(piece) ? 'cut' : 'pass');
      const lost = sessions.appendEvent({ session: SESSION, event });
      await expect(lost).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', outcomeUnknown: true });
      proxy.filter = () => 'pass';
      expect(await sessions.append({ session: SESSION, event })).toMatchObject({ duplicate: false });
    }
    await expectOnce(bench(), sessions, 10);
  });

  it('retries if a connection fails before the commit', async () => {
    // Each message of an append except the commit, and each response.
    for (const [from, place] of [
      ['client', 1],
      ['server', 1],
      ['client', 2],
      ['server', 2],
    ] as const) {
      proxy.filter = () => 'pass';
      const number = (await versionOf(sessions)) + 1;
      let pieces = 0;
      let isCommitting = false;
      let isCut = false;
      proxy.filter = (piece) => {
        isCommitting ||= isCommitRequest(piece);
        if (isCut || piece.from !== from || (pieces += 1) < place) return 'pass';
        expect(isCommitting).toBe(false);
        isCut = true;
        return 'cut';
      };
      expect(await sessions.append({ session: SESSION, event: eventOf(number) })).toMatchObject({ duplicate: false });
      expect(isCut).toBe(true);
    }
    await expectOnce(bench(), sessions, 4);
  });

  it('loses and duplicates nothing if connections are reset at any moment', async () => {
    const random = randomNumbers(seed);
    let untilCut = 5;
    proxy.filter = () => {
      untilCut -= 1;
      if (untilCut > 0) return 'pass';
      untilCut = 3 + Math.floor(random() * 40);
      return 'cut';
    };
    let next = 1;
    const errors: unknown[] = [];
    const writer = async (): Promise<void> => {
      for (let number = next++; number <= 200; number = next++) await appendWithRetries(sessions, number, errors);
    };
    await Promise.all(Array.from({ length: 8 }, writer));
    proxy.filter = () => 'pass';
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.filter((error) => !(error instanceof StoreUnavailableError))).toEqual([]);
    await expectOnce(bench(), sessions, 200, { inOrder: false });
  });

  it.each([
    ['before it arrived', 'client'],
    ['after it was written', 'server'],
  ] as const)('finds out what became of a direct append whose connection failed %s', async (_when, side) => {
    // So that PostgreSQL gets the text of each statement, by which the test finds direct appends.
    sessions = bench().sessions({ ...behind, timeLimitMs: GENEROUS_LIMIT_MS, preparedStatements: false });
    await sessions.appendEvent({ session: SESSION, event: eventOf(1) });
    let direct = 0;
    for (let number = 2; number <= 20; number++) {
      await sessions.append({ session: SESSION, event: { ...eventOf(number), id: `before-${number}` } });
      let isCut = false;
      let isDirect = false;
      proxy.filter = ({ from, data }) => {
        isDirect ||= from === 'client' && data.includes('SKIP LOCKED') && data.includes('INSERT INTO');
        if (isCut || from !== side || !isDirect) return 'pass';
        direct += 1;
        isCut = true;
        return 'cut';
      };
      const appending = sessions.append({ session: SESSION, event: eventOf(number) });
      expect(await appending).toMatchObject({ duplicate: false, event: { id: `e${number}` } });
      proxy.filter = () => 'pass';
      expect(await sessions.append({ session: SESSION, event: eventOf(number) })).toMatchObject({ duplicate: true });
    }
    expect(direct).toBeGreaterThan(0);
    expect(await versionOf(sessions)).toBe(1 + 2 * 19);
    await bench().checkIntegrity();
  });

  it('ends every call within the time limit if all packets are dropped, and recovers at once', async () => {
    sessions = await withShortTimeLimit();
    proxy.mode = 'black hole';
    const calls = [
      () => sessions.appendEvent({ session: SESSION, event: eventOf(1) }),
      () => sessions.getSession(KEY),
      () => sessions.listSessions({ appName: 'shop' }),
      () => sessions.updateAppState({ appName: 'shop', stateDelta: { k: 1 } }),
      () => sessions.createSession({ ...KEY, sessionId: 's-2' }),
      () => sessions.deleteSession(KEY),
      () => sessions.purgeExpired(),
    ];
    await Promise.all(
      calls.map(async (call) => {
        const refused = expect(call()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', outcomeUnknown: false });
        expect(await timeOf(() => refused)).toBeLessThan(LIMIT_MS + SLACK_MS);
      }),
    );
    proxy.mode = 'pass';
    const appending = sessions.append({ session: SESSION, event: eventOf(1) });
    expect(await timeOf(() => appending)).toBeLessThan(SLACK_MS);
    expect(await appending).toMatchObject({ duplicate: false, event: { seq: 1 } });
  });

  it('reports an unknown outcome if a commit or its answer is dropped', async () => {
    sessions = await withShortTimeLimit();
    proxy.filter = (piece) => (isCommitRequest(piece) ? 'drop' : 'pass');
    await expectUnknown(sessions, 1);
    expect(await versionOf(bench().sessions())).toBe(0);
    proxy.filter = droppingCommitResponses();
    await expectUnknown(sessions, 1);
    proxy.filter = () => 'pass';
    // On a busy machine, the second append may have waited for the lock of the first one until its time was over.
    expect(await sessions.append({ session: SESSION, event: eventOf(1) })).toMatchObject({ event: { seq: 1 } });
    await expectOnce(bench(), sessions, 1);
  });

  it('recovers after all idle connections were closed', async () => {
    await Promise.all(Array.from({ length: 5 }, () => sessions.getSession(KEY)));
    for (let number = 1; number <= 20; number++) {
      proxy.reset();
      expect(await sessions.append({ session: SESSION, event: eventOf(number) })).toMatchObject({ duplicate: false });
    }
    await expectOnce(bench(), sessions, 20);
  });

  it('reports that nothing was written if there is no connection', async () => {
    sessions = await withShortTimeLimit();
    proxy.refuse();
    const refused = expect(sessions.append({ session: SESSION, event: eventOf(1) })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      outcomeUnknown: false,
    });
    expect(await timeOf(() => refused)).toBeLessThan(LIMIT_MS + SLACK_MS);
  });
});

function eventOf(number: number) {
  const stateDelta = { count: number, [`k${number}`]: number, 'user:count': number, 'app:count': number };
  return { id: `e${number}`, author: 'user', actions: { stateDelta } };
}

async function appendWithRetries(sessions: SessionService, number: number, errors: unknown[]): Promise<void> {
  for (;;) {
    try {
      await sessions.append({ session: SESSION, event: eventOf(number) });
      return;
    } catch (error) {
      errors.push(error);
    }
  }
}

async function expectUnknown(sessions: SessionService, number: number): Promise<void> {
  const lost = expect(sessions.appendEvent({ session: SESSION, event: eventOf(number) })).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    outcomeUnknown: true,
  });
  expect(await timeOf(() => lost)).toBeLessThan(LIMIT_MS + SLACK_MS);
}

async function expectOnce(
  bench: SqlBench,
  sessions: SessionService,
  count: number,
  { inOrder = true }: { inOrder?: boolean } = {},
): Promise<void> {
  const { events } = await sessions.listEvents({ ...KEY, limit: 1_000 });
  expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  const numbers = events.map(({ id }) => Number(id.slice(1)));
  const expected = Array.from({ length: count }, (_, index) => index + 1);
  expect(inOrder ? numbers : numbers.toSorted((a, b) => a - b)).toEqual(expected);
  const state = (await sessions.getSession(KEY))?.state.toRecord() ?? {};
  expect(Object.keys(state).filter((name) => /^k\d/.test(name))).toHaveLength(count);
  expect(state['app:count']).toBe(numbers.at(-1));
  await bench.checkIntegrity();
}

async function versionOf(sessions: SessionService): Promise<number> {
  return (await sessions.getSession(KEY))?.version ?? -1;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
