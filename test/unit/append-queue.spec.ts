import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Commit } from '../../src/sessions/domain/commit.js';
import { AppendQueue } from '../../src/sessions/storage/typeorm/append/append-queue.js';

const COMMIT: Commit = {
  key: { appName: 'shop', userId: 'ann', sessionId: 's-1' },
  events: [{ id: 'e-1', timestamp: 0, anchor: false, payload: '{}' }],
  upserts: [],
  removals: [],
  counterIncrements: { turns: 0, events: 1, contentLength: 0, tokens: 0 },
  preconditions: {},
};

/** No session exists. */
type Database = ConstructorParameters<typeof AppendQueue>[0];
const database = {
  write: () => Promise.resolve([{ kind: 'missing' }]),
  writeDirectly: () => Promise.resolve(undefined),
} as unknown as Database;

describe('AppendQueue', () => {
  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
    'takes an append that comes %s promises after the last one ended',
    async (promises) => {
      const queue = new AppendQueue(database, { maxBatches: 1, maxWaiting: 1, isOn: true });
      await queue.append(COMMIT);
      for (let count = 0; count < promises; count++) await Promise.resolve();
      const ended = queue.append(COMMIT).then(() => 'ended');
      expect(await Promise.race([ended, nextTurn('still queued')])).toBe('ended');
    },
  );
});
