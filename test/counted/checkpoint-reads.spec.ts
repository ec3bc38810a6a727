import { type EventInput, InMemorySessionStorage, SessionService } from '../../src/index.js';
import { CHECKPOINT_EVERY } from '../../src/sessions/domain/history/checkpoint.js';
import { longLogStores } from './long-logs.js';
import { CountingStorage } from '../support/counting-storage.js';
import { crowd } from '../support/rounds.js';
import { KEY, SESSION } from './operations.js';

const says: EventInput = { author: 'agent', actions: { stateDelta: { step: 1, 'user:step': 1 } } };
/** A summary near the end, so that a fork copies little. */
const KEPT = 20;

interface Measured {
  readonly sessions: SessionService;
  /** The events that the work read. */
  reads(work: () => Promise<unknown>): Promise<number>;
}

/** A session of so many events, with checkpoints. */
async function open(length: number): Promise<Measured> {
  const [memory] = longLogStores;
  const log = await memory?.open(length, () => says);
  const counting = new CountingStorage(log?.storage ?? new InMemorySessionStorage());
  const sessions = new SessionService({ storage: counting.storage, history: { maxEvents: KEPT } });
  // Makes up for the checkpoints that the log did not get.
  const missing = CHECKPOINT_EVERY - (length % CHECKPOINT_EVERY);
  for (let count = 0; count < missing; count++) await sessions.appendEvent({ session: SESSION, event: says });
  const compaction = { fromSeq: 1, toSeq: length + missing - KEPT };
  await sessions.appendEvent({ session: SESSION, event: { author: 'system', actions: { compaction } } });
  await sessions.whenIdle();
  return {
    sessions,
    async reads(work) {
      counting.taken();
      await work();
      await sessions.whenIdle();
      return counting.taken().events;
    },
  };
}

describe.each([100, crowd(100_000)])('in a log of %d events, so many are read', (length) => {
  let log: Measured;
  beforeAll(async () => {
    log = await open(length);
  });

  it('for the state at any moment', async () => {
    for (const seq of [1, Math.floor(length / 2), length]) {
      expect(await log.reads(() => log.sessions.stateAt({ ...KEY, seq }))).toBeLessThan(CHECKPOINT_EVERY);
    }
  });

  it('for a page of changes', async () => {
    const afterSeq = length - 10;
    expect(await log.reads(() => log.sessions.stateChanges({ ...KEY, afterSeq }))).toBeLessThan(3 * CHECKPOINT_EVERY);
  });

  it('for the events of an invocation, wherever they are', async () => {
    const { sessions } = log;
    const work = { ...says, invocationId: 'scattered' };
    for (let stretch = 0; stretch < 3; stretch++) {
      await sessions.appendEvents({
        session: SESSION,
        events: [work, work, ...Array.from({ length: 50 }, () => says)],
      });
    }
    for (const order of ['asc', 'desc'] as const) {
      const list = async () => {
        const { events } = await sessions.listEvents({ ...KEY, invocationId: 'scattered', order });
        expect(events).toHaveLength(6);
      };
      expect(await log.reads(list)).toBeLessThan(100);
    }
  });

  it('for a fork, besides the events that it copies', async () => {
    const { sessions } = log;
    const fork = (): Promise<unknown> => sessions.forkSession({ ...KEY, newSessionId: `fork-${length}` });
    expect(await log.reads(fork)).toBeLessThan(2 * CHECKPOINT_EVERY + KEPT);
  });

  it('for a rewind, also over an earlier one', async () => {
    const { sessions } = log;
    const [early, late] = [Math.floor(length / 3), length];
    for (const toSeq of [late, early, late]) {
      expect(await log.reads(() => sessions.rewindSession({ ...KEY, toSeq }))).toBeLessThan(3 * CHECKPOINT_EVERY);
    }
  });

  it('for a rewind to before an invocation, which costs two more for each rewind after it', async () => {
    const { sessions } = log;
    const place = await sessions.getSession({ ...KEY, config: { numRecentEvents: 0 } });
    for (const id of ['early', 'late']) {
      await sessions.appendEvent({ session: SESSION, event: { ...says, invocationId: `${id}-${place?.version}` } });
      for (let count = 0; count < 3; count++) await sessions.appendEvent({ session: SESSION, event: says });
    }
    for (const id of ['late', 'early']) {
      const invocationId = `${id}-${place?.version}`;
      expect(await log.reads(() => sessions.rewindSession({ ...KEY, invocationId }))).toBeLessThan(
        3 * CHECKPOINT_EVERY,
      );
    }
    const missing = sessions.rewindSession({ ...KEY, invocationId: 'missing' });
    expect(await log.reads(() => missing.catch(() => undefined))).toBe(0);
  });

  it('for the appends between two checkpoints: each event once', async () => {
    const { sessions } = log;
    const reads = await log.reads(async () => {
      for (let count = 0; count < CHECKPOINT_EVERY; count++) {
        await sessions.appendEvent({ session: SESSION, event: says });
      }
    });
    expect(reads).toBeLessThanOrEqual(2 * CHECKPOINT_EVERY);
  });
});
