import { SessionService } from '../../src/index.js';
import type { ReadRequest, SessionStorage } from '../../src/storage.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { ConsumedEvents } from '../support/consumed-events.js';
import { storeOfEachKind } from '../support/stores.js';
import { until } from '../support/until.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'bad' };
const SESSION = { appName: 'shop', userId: 'ann', id: 'bad' };
const FAILS = new Error('No net');

describe.each(storeOfEachKind)('a consumer over $name that cannot read', ({ open }) => {
  let clock: ManualClock;
  let opened: OpenStorage;
  let sessions: SessionService;
  let broken: SessionService;
  let isBroken: boolean;
  const failures: Error[] = [];

  beforeEach(async () => {
    clock = new ManualClock();
    opened = await open({ clock });
    sessions = new SessionService({ storage: opened.storage, clock });
    await sessions.createSession(KEY);
    isBroken = true;
    failures.length = 0;
  });

  afterEach(async () => {
    await broken.finish();
    await sessions.finish();
    await opened.destroy();
  });

  const append = async (id: string): Promise<unknown> =>
    sessions.appendEvent({ session: SESSION, event: { id, author: 'agent' } });

  function start(storage: SessionStorage): SessionService {
    broken = new SessionService({
      storage,
      clock,
      onBackgroundError: (error) => failures.push(error as Error),
    });
    return broken;
  }

  /** Waits for so many failures in a row, and returns the pauses that they announce. */
  async function pauses(count: number): Promise<number[]> {
    isBroken = true;
    for (let times = 1; times <= count; times++) {
      await until(() => failures.length === times);
      if (times === count) isBroken = false;
      clock.advance(40_000);
    }
    return failures.splice(0).map(({ message }) => Number(/: try \d+ in (\d+) ms$/.exec(message)?.[1]));
  }

  it('a session tries it again after longer and longer pauses, begins anew when it could, and costs no event a try', async () => {
    start(failing(opened.storage, 'read', (request) => isBroken && (request as ReadRequest).key.sessionId === 'bad'));
    const settings = { leaseMs: 3_600_000, firstRetryMs: 10_000, maxRetryMs: 40_000 };
    const mail = await ConsumedEvents.of(broken, settings);
    await append('e-1');
    const waited = await pauses(4);
    for (const [index, longest] of [10_000, 20_000, 40_000, 40_000].entries()) {
      expect(waited[index]).toBeGreaterThanOrEqual(longest * 0.75);
      expect(waited[index]).toBeLessThanOrEqual(longest);
    }
    await mail.untilThereAre(1);
    isBroken = true;
    await append('e-2');
    const [again] = await pauses(1);
    expect(again).toBeLessThanOrEqual(10_000);
    await mail.untilThereAre(2);
    expect(mail.events.map(({ attempt }) => attempt)).toEqual([1, 1]);
  });

  it('names itself', async () => {
    start(failing(opened.storage, 'consumers.claim', () => isBroken));
    const mail = await ConsumedEvents.of(broken);
    await append('e-1');
    await until(() => failures.length > 0);
    isBroken = false;
    await mail.untilThereAre(1);
    const message = 'Consumer "mail" failed to look for work, and tries again';
    expect(failures[0]).toMatchObject({ message, cause: FAILS });
  });
});

/** The storage, one of whose methods, such as `read` or `consumers.claim`, fails when it is to. */
function failing<Target extends object>(target: Target, name: string, fails: (request: unknown) => boolean): Target {
  const [first, ...rest] = name.split('.');
  return new Proxy(target, {
    get(_target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (property === first && typeof value === 'object' && value !== null)
        return failing(value, rest.join('.'), fails);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        if (property === first && fails(given[0])) return Promise.reject(FAILS);
        return Reflect.apply(value, target, given);
      };
    },
  });
}
