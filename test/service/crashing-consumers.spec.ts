import { type ConsumedEvent, SessionService } from '../../src/index.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { ConsumedEvents } from '../support/consumed-events.js';
import { MortalStorage } from '../support/mortal-storage.js';
import { storeOfEachKind } from '../support/stores.js';
import { until } from '../support/until.js';

const USER = { appName: 'shop', userId: 'ann' };
const INNOCENT = ['b', 'c', 'd', 'e', 'f', 'g', 'h'];
const LEASE_MS = 30_000;
const MAX_TRIES = 3;
/** More deaths mean that it never ends. */
const MAX_DEATHS = 30;
/** In polls of the process: a handler takes so long, and an event that ends the process less. */
const HANDLING = 6;
const DYING = 2;

/** A process that consumes, as a service of its own. */
interface Life {
  readonly storage: MortalStorage;
  readonly sessions: SessionService;
  readonly mail: ConsumedEvents;
  /** The sessions whose events are being handled. */
  readonly running: Set<string>;
}

describe.each(storeOfEachKind)('consumers over $name whose process ends', ({ open }) => {
  let clock: ManualClock;
  let opened: OpenStorage;
  let sessions: SessionService;
  let lives: Life[];

  beforeEach(async () => {
    clock = new ManualClock();
    opened = await open({ clock });
    sessions = new SessionService({ storage: opened.storage, clock });
    lives = [];
    await sessions.consume({ name: 'mail', handler: () => undefined });
    await sessions.consumers.stop();
  });

  afterEach(async () => {
    for (const { storage } of lives) storage.die();
    await Promise.all(lives.map(({ mail }) => mail.stop()));
    await sessions.finish();
    await opened.destroy();
  });

  async function append(sessionId: string, ids: readonly string[]): Promise<void> {
    const key = { ...USER, sessionId };
    await sessions.getOrCreateSession(key);
    await sessions.appendEvents({
      session: { ...USER, id: sessionId },
      events: ids.map((id) => ({ id, author: 'a' })),
    });
  }

  /** @param handle what its handler does */
  async function begin(handle: (consumed: ConsumedEvent, life: Life) => Promise<void>): Promise<Life> {
    const storage = new MortalStorage(opened.storage);
    const service = new SessionService({ storage: storage.storage, clock, onBackgroundError: () => undefined });
    const running = new Set<string>();
    const life: { -readonly [Name in keyof Life]?: Life[Name] } = { storage, sessions: service, running };
    life.mail = await ConsumedEvents.of(service, { maxTries: MAX_TRIES, leaseMs: LEASE_MS }, async (consumed) => {
      running.add(consumed.key.sessionId);
      try {
        await handle(consumed, life as Life);
      } finally {
        running.delete(consumed.key.sessionId);
      }
    });
    lives.push(life as Life);
    return life as Life;
  }

  /** Work that was given back is due after a pause. */
  function goOn(): void {
    clock.advance(10);
  }

  async function isDone(): Promise<boolean> {
    const lag = await sessions.consumers.lag('mail');
    return lag?.sessions === 0 && lag.undispatched === 0;
  }

  /** Nothing of a process is left in the store then but claims that are over. */
  async function buried(storage: MortalStorage): Promise<void> {
    storage.die();
    await storage.bury();
    clock.advance(LEASE_MS);
  }

  /** Processes follow each other until all is handled. Returns how many died. */
  async function liveUntilDone(handle: (consumed: ConsumedEvent, life: Life) => Promise<void>): Promise<number> {
    for (let deaths = 0; deaths < MAX_DEATHS; deaths++) {
      const { storage } = await begin(handle);
      await until(async () => {
        goOn();
        return storage.isDead || isDone();
      });
      if (!storage.isDead) return deaths;
      await buried(storage);
    }
    throw new Error('The processes die for ever');
  }

  const letters = async (): Promise<{ sessionId: string; seq: number; tries: number }[]> => {
    const found = await sessions.consumers.deadLetters({ consumer: 'mail' });
    return found.map(({ sessionId, seq, tries }) => ({ sessionId, seq, tries }));
  };

  it('give up only the event that ends it, and handle all others', async () => {
    await append('a', ['a1', 'a2', 'a3']);
    for (const id of INNOCENT) await append(id, [`${id}1`, `${id}2`]);
    const besideKiller: number[] = [];
    const deaths = await liveUntilDone(async ({ event }, { storage, running }) => {
      await storage.polls(event.id === 'a2' ? DYING : HANDLING);
      if (event.id !== 'a2') return;
      besideKiller.push(running.size - 1);
      storage.die();
      await storage.death;
    });
    expect(await letters()).toEqual([{ sessionId: 'a', seq: 2, tries: MAX_TRIES }]);
    expect(deaths).toBe(2 + MAX_TRIES);
    // From the third time on it is alone.
    expect(besideKiller.slice(2)).toEqual(Array.from({ length: MAX_TRIES }, () => 0));
    const handled = new Set(lives.flatMap(({ mail }) => mail.events.map(({ event }) => event.id)));
    expect([...handled].toSorted()).toEqual(['a1', 'a3', ...INNOCENT.flatMap((id) => [`${id}1`, `${id}2`])].toSorted());
  });

  it('give nothing up if it is ended by something else, however often each event was begun', async () => {
    for (const id of INNOCENT) await append(id, [`${id}1`]);
    for (let kill = 0; kill < 3 * MAX_TRIES; kill++) {
      const { storage, running } = await begin((_consumed, life) => life.storage.death);
      await until(() => running.size > 0);
      await buried(storage);
    }
    expect(await liveUntilDone(async () => undefined)).toBe(0);
    expect(await letters()).toEqual([]);
    expect(lives.at(-1)?.mail.events).toHaveLength(INNOCENT.length);
  });

  it('handle one suspect at a time, beside sessions that are none', async () => {
    for (const id of INNOCENT) await append(id, [`${id}1`]);
    const first = await begin((_consumed, { storage }) => storage.death);
    await until(() => first.running.size === INNOCENT.length);
    await buried(first.storage);

    let suspects = 0;
    let mostSuspects = 0;
    let wasBeside = false;
    const handled: string[] = [];
    const second = await begin(async ({ key, attempt }, { storage, running }) => {
      const isSuspect = INNOCENT.includes(key.sessionId);
      expect(attempt).toBe(isSuspect ? 2 : 1);
      if (isSuspect) mostSuspects = Math.max(mostSuspects, (suspects += 1));
      wasBeside ||= running.size > 1;
      await storage.polls(HANDLING);
      if (isSuspect) suspects -= 1;
      handled.push(key.sessionId);
    });
    await until(() => second.running.size === 1);
    await append('new', ['new1', 'new2', 'new3']);
    await until(async () => {
      goOn();
      return isDone();
    });
    expect(handled.toSorted()).toEqual([...INNOCENT, 'new', 'new', 'new'].toSorted());
    expect([mostSuspects, wasBeside]).toEqual([1, true]);
    expect(await letters()).toEqual([]);
  });
});
