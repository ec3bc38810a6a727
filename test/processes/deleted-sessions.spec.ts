import { setTimeout as delay } from 'node:timers/promises';
import { SessionService } from '../../src/index.js';
import { type SharedStore, describeEveryStore } from '../support/processes/shared-stores.js';
import { openDescribed } from '../support/processes/store-description.js';
import type { Outcome } from '../support/processes/worker-tasks.js';
import { WorkerProcess } from '../support/processes/worker-process.js';
import { rounds } from '../support/rounds.js';

const ROUNDS = rounds(50);
const SESSIONS_A_ROUND = 10;
const LIFETIME_S = 60;
const START = Date.UTC(2030, 0, 1);
const EXPIRY = START + LIFETIME_S * 1_000;

let writer: WorkerProcess;
let remover: WorkerProcess;

beforeAll(async () => {
  [writer, remover] = await Promise.all([WorkerProcess.start(), WorkerProcess.start()]);
});

afterAll(() => Promise.all([writer.stop(), remover.stop()]));

describeEveryStore('an append in a $name store, while another process', ({ create }) => {
  let store: SharedStore;
  let sessions: SessionService;

  afterEach(async () => {
    await Promise.all([writer.run('close', undefined), remover.run('close', undefined)]);
    await sessions.close();
    await store.destroy();
  });

  /** Creates sessions of one user. In every other round, the user has no others. */
  async function createSome(round: number) {
    const userId = `user-${round >> 1}`;
    const ids = Array.from({ length: SESSIONS_A_ROUND }, (_, index) => `s-${round}-${index}`);
    const state = { own: round, [`user:${round}`]: round, [`app:${round}`]: round };
    await Promise.all(ids.map((sessionId) => sessions.createSession({ appName: 'shop', userId, sessionId, state })));
    return {
      keys: ids.map((sessionId) => ({ appName: 'shop', userId, sessionId })),
      references: ids.map((id) => ({ appName: 'shop', userId, id })),
    };
  }

  it(`deletes its session, is stored completely or not at all, ${ROUNDS * SESSIONS_A_ROUND} times`, async () => {
    store = await create();
    sessions = new SessionService({ storage: await openDescribed(store.description) });
    const opening = { store: store.description, connections: 2 };
    await Promise.all([writer.run('open', opening), remover.run('open', opening)]);

    const race = new Race();
    const outcomes: Outcome[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      const { keys, references } = await createSome(round);
      const append = () => writer.run('appendEach', { sessions: references, event: eventOf(round) });
      const remove = () => remover.run('deleteEach', { keys: keys.toReversed() });
      const [appended, removed] = await race.run(append, remove);
      outcomes.push(...appended);
      expect(removed.filter((outcome) => 'code' in outcome)).toEqual([]);
    }

    expectBothOutcomes(outcomes);
    await store.checkIntegrity();
    expect((await sessions.listSessions({ appName: 'shop' })).sessions).toEqual([]);
  });

  it(`purges its session, renews it or comes too late, ${ROUNDS * SESSIONS_A_ROUND} times`, async () => {
    store = await create();
    const clock = { now: () => START };
    const ttl = { enabled: true, sessionSeconds: LIFETIME_S };
    sessions = new SessionService({ storage: await openDescribed(store.description, { clock }), clock, ttl });
    const opening = { store: store.description, connections: 2, sessionSeconds: LIFETIME_S };
    // For one clock the sessions have just expired, for the other they are about to. Both outcomes are valid.
    await Promise.all([
      writer.run('open', { ...opening, now: EXPIRY - 1 }),
      remover.run('open', { ...opening, now: EXPIRY + 1 }),
    ]);

    const race = new Race();
    const outcomes: Outcome[] = [];
    let purged = 0;
    for (let round = 1; round <= ROUNDS; round++) {
      const { references } = await createSome(round);
      const append = () => writer.run('appendEach', { sessions: references, event: eventOf(round) });
      const remove = () => remover.run('purge', undefined);
      const [appended, removed] = await race.run(append, remove);
      outcomes.push(...appended);
      purged += removed;
    }

    expectBothOutcomes(outcomes);
    const kept = outcomes.filter((outcome) => 'seq' in outcome).length;
    expect(purged).toBe(ROUNDS * SESSIONS_A_ROUND - kept);
    await store.checkIntegrity();
    const listed = await sessions.listSessions({ appName: 'shop', page: 1 });
    expect(listed.totalItems).toBe(kept);
  });
});

function eventOf(round: number) {
  const stateDelta = { late: round, 'user:late': round, 'app:late': round };
  return { id: `e-${round}`, author: 'user', actions: { stateDelta } };
}

/** Starts two calls so that neither always comes first. */
class Race {
  /** By how many milliseconds the append starts first. */
  #lead = 0;

  async run<Removed>(
    append: () => Promise<readonly Outcome[]>,
    remove: () => Promise<Removed>,
  ): Promise<[readonly Outcome[], Removed]> {
    const [appended, removed] = await Promise.all([after(-this.#lead, append), after(this.#lead, remove)]);
    const stored = appended.filter((outcome) => 'seq' in outcome).length;
    this.#lead += stored * 2 < appended.length ? 1 : -1;
    return [appended, removed];
  }
}

async function after<Result>(milliseconds: number, call: () => Promise<Result>): Promise<Result> {
  if (milliseconds > 0) await delay(milliseconds);
  return call();
}

/** Both outcomes must occur, otherwise there was no race. */
function expectBothOutcomes(outcomes: readonly Outcome[]): void {
  const kinds = new Set(outcomes.map((outcome) => ('seq' in outcome ? `event ${outcome.seq}` : outcome.code)));
  expect([...kinds].toSorted()).toEqual(['SESSION_NOT_FOUND', 'event 1']);
}
