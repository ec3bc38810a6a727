import { type EventInput, type SessionServiceOptions, SessionService } from '../../src/index.js';
import { CHECKPOINT_EVERY } from '../../src/sessions/domain/history/checkpoint.js';
import type { SessionStorage } from '../../src/storage.js';
import { CountingStorage } from '../support/counting-storage.js';
import { openSqlite } from '../support/sqlite-store.js';
import { KEY, SESSION } from './operations.js';

const says: EventInput = { author: 'agent', actions: { stateDelta: { step: 1 } } };
const WRITERS = 8;
const BATCHES = 10;
const BATCH = 100;
const TOTAL = WRITERS * BATCHES * BATCH;

describe('Writers who append faster than the work that follows', () => {
  let storage: SessionStorage;
  let destroy: () => Promise<void>;

  beforeEach(async () => {
    ({ storage, destroy } = await openSqlite({}));
  });

  afterEach(() => destroy());

  /** Returns how many events the process has read. */
  async function appendAll(history: SessionServiceOptions['history']): Promise<number> {
    const counting = new CountingStorage(storage);
    const sessions = new SessionService({ storage: counting.storage, history });
    await sessions.createSession(KEY);
    const write = async (): Promise<void> => {
      for (let count = 0; count < BATCHES; count++) {
        await sessions.appendBatch({ session: SESSION, events: Array.from({ length: BATCH }, () => says) });
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, write));
    await sessions.whenIdle();
    return counting.taken().events;
  }

  it('make checkpoints read each event about once', async () => {
    expect(await appendAll({})).toBeLessThan(2 * TOTAL);
    const { checkpoint } = (await storage.read({ key: KEY, checkpointAt: TOTAL })) ?? {};
    expect(checkpoint?.seq).toBe(TOTAL - (TOTAL % CHECKPOINT_EVERY));
  });

  it('make trims read each event about once more, and leave nothing to trim', async () => {
    const maxEvents = 20;
    expect(await appendAll({ keepHistory: false, maxEvents })).toBeLessThan(3 * TOTAL);
    const { record } = (await storage.read({ key: KEY })) ?? {};
    expect(record).toMatchObject({ firstSeq: TOTAL - maxEvents + 1, lastSeq: TOTAL });
  });
});
