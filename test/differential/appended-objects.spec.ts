import fc from 'fast-check';
import { type EventInput, type GetSessionConfig, type Session, SessionService } from '../../src/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { seed } from '../support/random.js';
import { storesAboveThePort } from '../support/stores.js';
import { type ManualClock, manualClock } from './clock.js';
import { same } from './lock-step.js';
import { eventOf } from './long-logs.js';
import type { GivenEvent } from './model/entries.js';
import { TIMEOUT_MS, runsOr, searching } from './runs.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const REFERENCE = { appName: 'shop', userId: 'ann', id: 's' };

interface Settings {
  readonly maxEvents: number;
  readonly eventTtlSeconds: number;
  readonly keepHistory: boolean;
}

/** Concurrent appends through one object, after a pause. */
interface Batch {
  readonly numbers: readonly number[];
  readonly pauseMs: number;
  /** How many events go into one append. Summaries and rewinds are alone. */
  readonly together: number;
}

const settings: fc.Arbitrary<Settings> = fc.record({
  maxEvents: fc.constantFrom(0, 1, 2, 3, 5, 8, 25),
  eventTtlSeconds: fc.constantFrom(0, 0, 4, 40),
  keepHistory: fc.constantFrom(true, true, false),
});
const number = fc.nat({ max: 99_999 });
const batchesArbitrary = fc.array(
  fc.record({
    numbers: fc.oneof(
      { weight: 3, arbitrary: fc.tuple(number) },
      { weight: 1, arbitrary: fc.array(number, { minLength: 2, maxLength: 30, size: 'max' }) },
    ),
    pauseMs: fc.constantFrom(0, 100, 1_000, 5_000, 60_000),
    together: fc.constantFrom(1, 1, 2, 7, 30),
  }),
  { minLength: 1, maxLength: 12, size: 'max' },
);
const places = fc.constantFrom<'none' | 'afterSeq' | 'afterTimestamp'>(
  'none',
  'none',
  'none',
  'afterSeq',
  'afterTimestamp',
);

/** A store whose responses arrive in the order that the scheduler chooses. Each commit advances the clock. */
function withDelays(storage: SessionStorage, scheduler: fc.Scheduler, clock: ManualClock): SessionStorage {
  const delayed: Pick<SessionStorage, 'append' | 'read'> = {
    async append(commit) {
      clock.time += 100;
      return scheduler.schedule(storage.append(commit));
    },
    read: async (request) => scheduler.schedule(storage.read(request)),
  };
  return new Proxy(storage, {
    get(target, name) {
      const value: unknown = Reflect.get(name in delayed ? delayed : target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** Generates the events of a log from numbers. Rewinds and summaries depend on the length of the log. */
class EventGenerator {
  readonly #log: GivenEvent[] = [];

  constructor(
    private readonly userPercent: number,
    private readonly clock: ManualClock,
    private readonly isTrimmed: boolean,
  ) {}

  next(from: number): EventInput {
    const event = eventOf(from, {
      userPercent: this.userPercent,
      log: this.#log,
      now: this.clock.time,
      isTrimmed: this.isTrimmed,
    });
    this.#log.push(event);
    return event as EventInput;
  }
}

describe.each(storesAboveThePort)('a session object on $name', (store) => {
  const numRuns = runsOr(store.name === 'memory' ? 50 : 6);

  it(
    `shows the same after appends as a fresh load, ${numRuns} logs, SEED=${seed}`,
    async () => {
      const alike = fc.asyncProperty(
        settings,
        fc.array(number, { maxLength: 90, size: 'max' }),
        batchesArbitrary,
        fc.constantFrom(0, 4, 20),
        places,
        fc.scheduler(),
        async (history, before, parallel, userPercent, place, scheduler) => {
          const clock = manualClock();
          const opened = await store.open({ clock });
          try {
            const { keepHistory } = history;
            const generator = new EventGenerator(userPercent, clock, !keepHistory);
            const writer = new SessionService({ storage: opened.storage, clock, history });
            await writer.createSession(KEY);
            for (const from of before) {
              clock.time += 100;
              await writer.appendEvent({ session: REFERENCE, event: generator.next(from) });
              await writer.whenIdle();
            }
            await compare({ history, clock, storage: opened.storage, scheduler, batches: parallel, generator, place });
          } finally {
            await opened.destroy();
          }
        },
      );
      await fc.assert(alike, { ...searching, numRuns });
    },
    TIMEOUT_MS,
  );
});

interface Comparison {
  readonly history: Settings;
  readonly clock: ManualClock;
  readonly storage: SessionStorage;
  readonly scheduler: fc.Scheduler;
  readonly batches: readonly Batch[];
  readonly generator: EventGenerator;
  readonly place: 'none' | 'afterSeq' | 'afterTimestamp';
}

async function compare({ history, clock, storage, scheduler, batches, generator, place }: Comparison): Promise<void> {
  const reader = new SessionService({ storage, clock, history });
  const service = new SessionService({ storage: withDelays(storage, scheduler, clock), clock, history });
  const config: GetSessionConfig = {
    ...(place === 'afterSeq' && { afterSeq: Math.max(0, ((await reader.getSession(KEY))?.version ?? 0) - 4) }),
    ...(place === 'afterTimestamp' && { afterTimestamp: clock.time - 300 }),
  };
  const session = await reader.getSession({ ...KEY, config });
  if (!session) throw new Error('The session does not exist');
  for (const { numbers, pauseMs, together } of batches) {
    clock.time += pauseMs;
    const events = numbers.map((from) => generator.next(from));
    // A summary of events that do not exist yet is refused; the clock still advances.
    const appends = appendsOf(events, together).map(async (some) =>
      service.appendEvents({ session, events: some }).catch(() => undefined),
    );
    const appended = await scheduler.waitFor(Promise.all(appends));
    const last = { author: 'agent', content: { parts: [{ text: 'well' }] } };
    if (appended.includes(undefined)) await scheduler.waitFor(service.appendEvent({ session, event: last }));
    await scheduler.waitFor(service.whenIdle());
    const read = await reader.getSession({ ...KEY, config });
    const what = `after appends with ${JSON.stringify({ history, config })}, the object`;
    same(seqsOf(session), seqsOf(read), what);
    same(session.events, read?.events, what);
  }
}

/** Divides events into appends of at most so many. */
function appendsOf(events: readonly EventInput[], together: number): EventInput[][] {
  const appends: EventInput[][] = [];
  let isOpen = false;
  for (const event of events) {
    const isControl = Boolean(event.actions?.compaction ?? event.actions?.rewind);
    const last = appends.at(-1);
    if (isOpen && !isControl && last && last.length < together) last.push(event);
    else appends.push([event]);
    isOpen = !isControl;
  }
  return appends;
}

function seqsOf(session: Session | undefined): string | undefined {
  return session?.events.map(({ seq }) => seq).join(' ');
}
