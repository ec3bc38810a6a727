import type { SessionKey } from '../sessions/domain/ids.js';
import type { LoggedEvent } from '../sessions/domain/event.js';
import { isRewind, isSummary } from '../sessions/domain/event-inspection.js';
import { subtractCounters } from '../sessions/domain/counters.js';
import { loggedEvent } from '../sessions/domain/logged-event.js';
import { withLease } from '../sessions/leases/with-lease.js';
import type { SessionStorage, StoredSession } from '../sessions/storage/session-storage.js';
import { type DueSince, isInForce } from './due-since.js';
import { withinTime } from './models/calls/within-time.js';
import { leaseNameOf } from './session-names.js';
import { type SessionSummary, isLastWord } from './session-summary.js';
import type { SummaryWriter } from './summary-writer.js';
import { type SummaryFacts, type Threshold, isPromise } from './thresholds.js';

/** How long others wait after this process crashed in the middle. */
const LEASE_MS = 30_000;

export interface SummaryWorkOptions {
  readonly storage: SessionStorage;
  readonly writer: SummaryWriter;
  readonly threshold: Threshold;
  readonly keepRecentEvents: number;
  /** How long a condition of the app's own may take. */
  readonly timeoutMs: number;
  /** Told of a lease that could not be renewed or given back. */
  readonly onLeaseError: (error: unknown) => void;
}

export type SummaryOutcome =
  /** Somebody else is at it. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'done'; readonly summary: SessionSummary | undefined; readonly isCalledOff: boolean };

/** Whether a session needs a summary, and the writing of it: by one at a time, among all processes. */
export class SummaryWork {
  constructor(private readonly options: SummaryWorkOptions) {}

  /** Nothing but comparisons, unless a condition of the app's own takes time; however much it takes, this ends. */
  isDue(facts: SummaryFacts, signal?: AbortSignal): boolean | Promise<boolean> {
    if (!this.hasEnough(facts)) return false;
    const { threshold, timeoutMs } = this.options;
    const isMet: unknown = threshold(facts);
    return isPromise(isMet)
      ? withinTime({ limitMs: timeoutMs, signal }, async () => Boolean(await isMet))
      : Boolean(isMet);
  }

  /** Whether there is anything beyond the newest events, which stay as they are. */
  hasEnough({ since }: SummaryFacts): boolean {
    return since.events > this.options.keepRecentEvents;
  }

  /** How a session stands, read anew; nothing where it is gone, or nothing came since its last summary. */
  async factsOf(key: SessionKey): Promise<SummaryFacts | undefined> {
    const read = await this.#newestOf(key);
    return read && !isSettled(read) ? factsOf(key, read, newestIn(read)) : undefined;
  }

  /** The same, if it is still due because of an event, whatever came after it. */
  async factsSince(key: SessionKey, since: DueSince): Promise<SummaryFacts | undefined> {
    const read = await this.#newestOf(key);
    const facts = read && isInForce(since, read.record) ? factsOf(key, read, newestIn(read)) : undefined;
    return facts && this.hasEnough(facts) ? facts : undefined;
  }

  /** Writes what is due, now or since that event, or, asked for by `force`, what there is to summarise. */
  async run(key: SessionKey, force: boolean, signal: AbortSignal, since?: DueSince): Promise<SummaryOutcome> {
    const { storage, onLeaseError } = this.options;
    const lease = { leases: storage.leases, name: leaseNameOf(key), ttlMs: LEASE_MS, onError: onLeaseError };
    const outcome = await withLease(lease, (held) =>
      this.#write(key, force, AbortSignal.any([signal, held.signal]), since),
    );
    return outcome.ran ? outcome.result : { kind: 'busy' };
  }

  async #write(key: SessionKey, force: boolean, signal: AbortSignal, since?: DueSince): Promise<SummaryOutcome> {
    const isDue = async (): Promise<boolean> => !force && (await this.#isStillDue(key, signal, since));
    let summary: SessionSummary | undefined;
    // Somebody else may have written it since this was asked for. And what came while the model worked may be due already:
    // whoever appended it found the session busy.
    for (let isLeft = force || (await isDue()); isLeft;) {
      const outcome = await this.options.writer.write(key, signal);
      if (outcome.kind !== 'written') return { kind: 'done', summary, isCalledOff: outcome.kind === 'called off' };
      ({ summary } = outcome);
      isLeft = outcome.isPart || (await isDue());
    }
    return { kind: 'done', summary, isCalledOff: false };
  }

  async #isStillDue(key: SessionKey, signal: AbortSignal, since?: DueSince): Promise<boolean> {
    const read = await this.#newestOf(key);
    if (!read || isSettled(read)) return false;
    const facts = factsOf(key, read, newestIn(read));
    return since && isInForce(since, read.record) ? this.hasEnough(facts) : this.isDue(facts, signal);
  }

  async #newestOf(key: SessionKey): Promise<StoredSession | undefined> {
    return this.options.storage.read({ key, window: { limit: 1 } });
  }
}

export function factsOf(
  key: SessionKey,
  { record, now }: Pick<StoredSession, 'record' | 'now'>,
  event: LoggedEvent | undefined,
): SummaryFacts {
  const since = subtractCounters(record.counters, record.marks.covered);
  return { key, since, idleMs: now - record.lastUpdateTime, event };
}

/**
 * Whether nothing came since a summary was thought about. It left over what it had to leave, such as a long last turn: a
 * condition that is still true, such as idleness, does not cut that in two.
 */
function isSettled({ events }: StoredSession): boolean {
  const newest = events.at(-1);
  return newest?.payload !== undefined && isLastWord(loggedEvent(newest));
}

/** A summary or a rewind is nothing that a condition was ever asked about. */
function newestIn({ events }: StoredSession): LoggedEvent | undefined {
  const newest = events.at(-1);
  if (!newest?.payload) return undefined;
  const event = loggedEvent(newest);
  return isSummary(event) || isRewind(event) ? undefined : event;
}
