import fc from 'fast-check';
import { type EventInput, type HistorySettings, SessionService } from '../../src/index.js';
import { seed } from '../support/random.js';
import { type TestStore, testStores } from '../support/stores.js';
import { manualClock } from './clock.js';
import { same } from './lock-step.js';
import { type LongLog, eventOf, longLogs } from './long-logs.js';
import type { GivenEvent } from './model/entries.js';
import { Model } from './model/model.js';
import type { Narrowing } from './model/narrowing.js';
import { seenObject, seenSession } from './observations.js';
import { TIMEOUT_MS, longLogsOf, searching } from './runs.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const NO_TTL = { enabled: false, sessionSeconds: 0, userStateSeconds: 0, appStateSeconds: 0, refreshOnRead: false };
const OFF = { maxEvents: 0, numRecentEvents: 0, eventTtlSeconds: 0 };
const FILTERS = [
  ...[0, 1, 2, 3, 7, 20, 50].map((maxEvents) => ({ ...OFF, maxEvents })),
  ...[5, 40].map((eventTtlSeconds) => ({ ...OFF, eventTtlSeconds })),
  { maxEvents: 6, numRecentEvents: 3, eventTtlSeconds: 10 },
];
const NARROWINGS: readonly Narrowing[] = [{}, { numRecentEvents: 1 }, { numRecentEvents: 9 }, { afterSeq: 100 }];
const CHECK_EVERY = 50;
/** A trimmed log is looked at while the events that were just cut off would still be near. */
const TRIMMED_EVERY = 64;
const LOOKS_AFTER_TRIMMING = 5;

describe.each(testStores)('A long log in $name', (store) => {
  const { numRuns, minLength, maxLength } = longLogsOf(store.name);
  const size = `${numRuns} × ${minLength}–${maxLength} events, SEED=${seed}`;
  const logs = longLogs(minLength, maxLength);

  it(
    `is read through windows as if it were read whole, ${size}`,
    async () => {
      await fc.assert(
        fc.asyncProperty(logs, (log) => compare(store, log, FILTERS, { keepHistory: true })),
        { ...searching, numRuns },
      );
    },
    TIMEOUT_MS,
  );

  it(
    `shows the same after it was trimmed, ${size}`,
    async () => {
      const filter = fc.constantFrom(...FILTERS.filter(({ maxEvents }) => maxEvents > 0));
      await fc.assert(
        fc.asyncProperty(logs, filter, (log, only) => compare(store, log, [only], { keepHistory: false })),
        { ...searching, numRuns },
      );
    },
    TIMEOUT_MS,
  );
});

/** Appends a log and now and then reads it, through every filter and every narrowing, beside the model. */
async function compare(
  store: TestStore,
  { numbers, talk }: LongLog,
  filters: readonly Omit<HistorySettings, 'keepHistory'>[],
  { keepHistory }: Pick<HistorySettings, 'keepHistory'>,
): Promise<void> {
  const clock = manualClock();
  const opened = await store.open({ clock });
  const { storage } = opened;
  const readers = filters.map((filter) => ({
    filter,
    service: new SessionService({ storage, clock, history: { ...filter, keepHistory } }),
  }));
  const [writer] = readers;
  const model = new Model({ ...OFF, ttl: NO_TTL }, clock);
  const log: GivenEvent[] = [];
  try {
    await writer?.service.createSession(KEY);
    model.create(KEY);
    for (const [index, number] of numbers.entries()) {
      clock.time += 100;
      const event = eventOf(number, { talk, log, now: clock.time, isTrimmed: !keepHistory });
      const state = { n: number % 7, [`k${number % 5}`]: number };
      const changed = event.actions?.compaction
        ? event
        : { ...event, actions: { ...event.actions, stateDelta: state } };
      const id = `e${index}`;
      log.push(changed);
      await writer?.service.append({ session: { ...KEY, id: KEY.sessionId }, event: { ...changed, id } as EventInput });
      model.append({ target: KEY, given: { ...changed, id }, assignedId: id });
      if (!keepHistory) await writer?.service.whenIdle();
      const isLook = keepHistory ? (index + 1) % CHECK_EVERY === 0 : (index + 1) % TRIMMED_EVERY < LOOKS_AFTER_TRIMMING;
      if (!isLook && index < numbers.length - 1) continue;
      for (const { filter, service } of readers) {
        const reading = new Model({ ...filter, ttl: NO_TTL }, clock, model.store);
        for (const config of NARROWINGS) {
          const session = await service.getSession({ ...KEY, config });
          const object = reading.get(KEY, config);
          const what = `after ${index + 1} events, ${JSON.stringify({ filter, config })}, the view`;
          same(session && seenSession(session, true), object && seenObject(object, true), what);
        }
      }
    }
  } finally {
    await opened.destroy();
  }
}
