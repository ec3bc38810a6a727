import fc from 'fast-check';
import { type EventInput, SessionService } from '../../src/index.js';
import type { HistorySettings } from '../../src/config/session-settings.js';
import { seed } from '../support/random.js';
import { type TestStore, storesAboveThePort } from '../support/stores.js';
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
const CHECK_INTERVAL = 50;
/** A trimmed log is checked right after each trim, while the removed events would still be close to the view. */
const TRIM_INTERVAL = 64;
const CHECKS_AFTER_TRIMMING = 5;

describe.each(storesAboveThePort)('a long log in $name', (store) => {
  const { numRuns, minLength, maxLength } = longLogsOf(store.name);
  const size = `${numRuns} × ${minLength}–${maxLength} events, SEED=${seed}`;
  const logs = longLogs(minLength, maxLength);

  it(
    `gives the same views when it is read in windows as when it is read completely, ${size}`,
    async () => {
      await fc.assert(
        fc.asyncProperty(logs, (log) => compare(store, log, FILTERS, { keepHistory: true })),
        { ...searching, numRuns },
      );
    },
    TIMEOUT_MS,
  );

  it(
    `gives the same views after it was trimmed, ${size}`,
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

/** Appends a log. At intervals, compares the view with the model for each filter and each narrowing. */
async function compare(
  store: TestStore,
  { numbers, userPercent }: LongLog,
  filters: readonly Omit<HistorySettings, 'keepHistory' | 'keepPrompts'>[],
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
      const event = eventOf(number, { userPercent, log, now: clock.time, isTrimmed: !keepHistory });
      const state = { n: number % 7, [`k${number % 5}`]: number };
      const changed = event.actions?.compaction
        ? event
        : { ...event, actions: { ...event.actions, stateDelta: state } };
      const id = `e${index}`;
      log.push(changed);
      await writer?.service.append({ session: { ...KEY, id: KEY.sessionId }, event: { ...changed, id } as EventInput });
      model.append({ target: KEY, given: { ...changed, id }, assignedId: id });
      if (!keepHistory) await writer?.service.whenIdle();
      const isCheck = keepHistory
        ? (index + 1) % CHECK_INTERVAL === 0
        : (index + 1) % TRIM_INTERVAL < CHECKS_AFTER_TRIMMING;
      if (!isCheck && index < numbers.length - 1) continue;
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
    await writer?.service.whenIdle();
    await opened.destroy();
  }
}
