import { type EventInput, SessionService } from '../../src/index.js';
import { CHECKPOINT_EVERY } from '../../src/sessions/domain/checkpoint.js';
import { CountingStorage } from '../support/counting-storage.js';
import { openSqlite } from '../support/sqlite-store.js';
import { KEY, SESSION } from './operations.js';

const says: EventInput = { author: 'agent', actions: { stateDelta: { step: 1 } } };
const WRITERS = 8;
const BATCHES = 10;
const BATCH = 100;

it('Writers who append faster than checkpoints are saved make them read each event about once', async () => {
  const { storage, destroy } = await openSqlite({});
  const counting = new CountingStorage(storage);
  const sessions = new SessionService({ storage: counting.storage });
  await sessions.createSession(KEY);
  const write = async (): Promise<void> => {
    for (let count = 0; count < BATCHES; count++) {
      await sessions.appendBatch({ session: SESSION, events: Array.from({ length: BATCH }, () => says) });
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  await sessions.whenIdle();
  expect(counting.taken().events).toBeLessThan(2 * WRITERS * BATCHES * BATCH);
  const last = WRITERS * BATCHES * BATCH;
  const { checkpoint } = (await storage.read({ key: KEY, checkpointAt: last })) ?? {};
  expect(checkpoint?.seq).toBe(last - (last % CHECKPOINT_EVERY));
  await destroy();
});
