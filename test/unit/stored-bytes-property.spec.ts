import fc from 'fast-check';
import { InMemorySessionStorage, QuotaExceededError } from '../../src/index.js';
import { newRecord } from '../../src/sessions/domain/stored/session-record.js';
import { QuotaKeeper } from '../../src/sessions/quotas/quota-keeper.js';
import type { SessionStorage } from '../../src/sessions/storage/session-storage.js';
import { ManualClock } from '../../src/testing/index.js';

const ANN = { appName: 'shop', userId: 'ann' };
const RECORD = newRecord({ ...ANN, sessionId: 's' }, '1', 0, 1);
const LIMIT = 1_000;
const INSTANCES = 3;
/** So long may a write take to become visible. */
const SLOWEST_MS = 4_999;

const instance = fc.nat(INSTANCES - 1);
const write = fc.record({ instance, bytes: fc.nat(200), slow: fc.nat(SLOWEST_MS) });
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('write' as const), all: fc.array(write, { minLength: 1, maxLength: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), bytes: fc.nat(600) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('look' as const), instance }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(7_000) }) },
);

/** A store whose writes become visible late, and its instances. */
class World {
  readonly clock = new ManualClock(Date.UTC(2026, 10, 23, 12));
  readonly #storage = new InMemorySessionStorage({ clock: this.clock });
  readonly keepers: QuotaKeeper[];
  visible = 0;
  #onTheirWay: { readonly at: number; readonly bytes: number }[] = [];

  constructor() {
    const storage = {
      entries: this.#storage.entries,
      list: async () => ({ sessions: [{ record: RECORD, metadata: '', state: { session: [], user: [], app: [] } }] }),
      tails: async () => [{ lastSeq: 0, livesForMs: 1, events: [], bytes: this.visible }],
    } satisfies Pick<SessionStorage, 'entries' | 'list' | 'tails'>;
    const settings = { user: { storedBytes: LIMIT }, app: {}, process: {} };
    this.keepers = Array.from({ length: INSTANCES }, () => new QuotaKeeper(settings, storage, this.clock));
  }

  get written(): number {
    return this.visible + this.#onTheirWay.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  async write(place: number, bytes: number, slow: number): Promise<boolean> {
    try {
      await this.keepers[place]?.append(ANN, 1, () => bytes, false);
    } catch (error) {
      if (error instanceof QuotaExceededError) return false;
      throw error;
    }
    this.#onTheirWay.push({ at: this.clock.now() + slow, bytes });
    return true;
  }

  delete(bytes: number): void {
    this.visible -= Math.min(bytes, this.visible);
  }

  wait(ms: number): void {
    this.clock.advance(ms);
    const due = this.#onTheirWay.filter(({ at }) => at <= this.clock.now());
    this.#onTheirWay = this.#onTheirWay.filter((one) => !due.includes(one));
    for (const { bytes } of due) this.visible += bytes;
  }
}

describe('the quota of stored bytes', () => {
  it('never lets in more than the limit, and lets in all that fits after ten seconds without writes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), instance, async (steps, last) => {
        const world = new World();
        for (const each of steps) {
          if (each.kind === 'write')
            await Promise.all(each.all.map((one) => world.write(one.instance, one.bytes, one.slow)));
          else if (each.kind === 'delete') world.delete(each.bytes);
          else if (each.kind === 'look') await world.keepers[each.instance]?.uses(ANN);
          else world.wait(each.ms);
          expect(world.written).toBeLessThanOrEqual(LIMIT);
        }
        world.wait(10_000);
        const left = LIMIT - world.written;
        expect(await world.write(last, left, 0)).toBe(left > 0);
        expect(await world.write(last, 1, 0)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it('lets nobody spend what was set aside before a count that may have missed it', async () => {
    const world = new World();
    // The fifth one sets 30 aside.
    for (let count = 0; count < 5; count++) await world.write(0, 10, 0);
    expect(await world.write(1, LIMIT - 80, 0)).toBe(true);
    expect(await world.write(1, 1, 0)).toBe(false);
    world.wait(9_900);
    await world.write(0, 30, SLOWEST_MS);
    world.wait(100);
    expect(await world.write(1, 30, 0)).toBe(true);
    expect(world.written).toBeLessThanOrEqual(LIMIT);
    expect(world.written).toBeGreaterThan(LIMIT - 31);
  });
});
