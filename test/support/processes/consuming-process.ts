import { setTimeout as delay } from 'node:timers/promises';
import type { SessionReference } from '../../../src/index.js';
import { SessionService } from '../../../src/sessions/session.service.js';
import { until } from '../until.js';
import { numberedEvents } from './numbered-event.js';
import { type StoreDescription, openDescribed } from './store-description.js';

export interface ConsumeTask {
  readonly store: StoreDescription;
  readonly name: string;
  /** The process ends right after it handled this event. */
  readonly diesAt: number;
  readonly maxTries?: number;
  /** How far the clock of this process is ahead. */
  readonly aheadMs?: number;
}

/** Consumes, reports the number of each event it handles, and dies. Never done. */
export async function consumeUntilDead(
  { store, name, diesAt, maxTries, aheadMs = 0 }: ConsumeTask,
  report: (seq: number) => Promise<void>,
): Promise<void> {
  const clock = { now: () => Date.now() + aheadMs };
  const sessions = new SessionService({ storage: await openDescribed(store, { clock }), clock });
  await sessions.consume({
    name,
    maxTries,
    pollMs: 10,
    async handler({ event }) {
      await report(event.seq);
      if (event.seq === diesAt) dieNow();
    },
  });
  await new Promise(() => undefined);
}

export interface DeadlyTask {
  readonly store: StoreDescription;
  readonly name: string;
  readonly maxTries: number;
  /** The event that ends the process, after all events that can be handled beside it have begun. */
  readonly deadly: { readonly sessionId: string; readonly seq: number };
  /** How many sessions there are. */
  readonly sessions: number;
  readonly aheadMs: number;
}

/** How long the deadly event waits for others to begin. The others take longer. */
const GATHERING_MS = 100;

/** Consumes until the backlog is empty, or until the deadly event ends the process in the middle of all others. */
export async function consumeDeadly(
  { store, name, maxTries, deadly, sessions: count, aheadMs }: DeadlyTask,
  report: (running: number) => Promise<void>,
): Promise<void> {
  const clock = { now: () => Date.now() + aheadMs };
  const sessions = new SessionService({ storage: await openDescribed(store, { clock }), clock });
  let running = 0;
  await sessions.consume({
    name,
    maxTries,
    pollMs: 10,
    async handler({ key, event }) {
      running += 1;
      const isDeadly = key.sessionId === deadly.sessionId && event.seq === deadly.seq;
      if (isDeadly) {
        const end = performance.now() + GATHERING_MS;
        await until(() => running === count || performance.now() > end);
        await report(running);
        dieNow();
      }
      await delay(2 * GATHERING_MS);
      running -= 1;
    },
  });
  await until(async () => {
    const lag = await sessions.consumers.lag(name);
    return lag?.sessions === 0 && lag.undispatched === 0;
  });
  await sessions.close();
}

export interface AppendTask {
  readonly store: StoreDescription;
  readonly session: SessionReference;
  readonly count: number;
}

/** Appends events together, and dies as soon as the store has them. Never done. */
export async function appendAndDie({ store, session, count }: AppendTask): Promise<void> {
  const storage = await openDescribed(store);
  const append = storage.append.bind(storage);
  storage.append = async (commit) => {
    await append(commit);
    return dieNow();
  };
  const sessions = new SessionService({ storage });
  await sessions.appendEvents({ session, events: numberedEvents('w', 1, count) });
}

function dieNow(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal needs no event loop, and nothing may happen until it is there.
  for (;;);
}
