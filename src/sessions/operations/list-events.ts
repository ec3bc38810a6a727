import { ByteBudget, eventBytes, eventsBytes, MOST_PER_READ } from '../domain/stored/byte-budget.js';
import type { StoredEvent } from '../domain/stored/commit.js';
import { readableEvent } from '../domain/stored/damaged-event.js';
import {
  checkedLimit,
  checkedOrder,
  leftAfter,
  LogCursor,
  type LogPageRequest,
  MAX_LIMIT,
} from '../domain/values/paging.js';
import { InvalidInputError } from '../domain/errors/errors.js';
import { isAnswer } from '../domain/event/event-inspection.js';
import type { LoggedEvent } from '../domain/event/event.js';
import { type SessionKey, checkedSessionKey } from '../domain/values/ids.js';
import { optionalCount, optionalFlag } from '../domain/values/input-checks.js';
import { type SeqRange, isInRanges } from '../domain/values/seq-ranges.js';
import type { SessionEnvironment } from '../session-environment.js';
import type { StoredSession } from '../storage/session-storage.js';
import { IncarnationReads } from './incarnation-reads.js';
import { InvocationReader } from './invocation-reader.js';

/** The part of a log to read. */
export interface ListEventsRequest extends SessionKey, LogPageRequest {
  /** Only events after this one. */
  readonly afterSeq?: number | undefined;
  /** Only events before this one. */
  readonly beforeSeq?: number | undefined;
  /** Only events of this invocation, without rewinds. Others are not read, however long the log is. */
  readonly invocationId?: string | undefined;
  /** Only answers that say what their model was given. A page looks at 1,000 events, so it may be empty and have a next one. */
  readonly modelRequests?: boolean | undefined;
}

/** A page of a log. */
export interface EventPage {
  /** In the requested order. */
  readonly events: LoggedEvent[];
  /** First retained event; earlier ones were trimmed. */
  readonly firstSeq: number;
  /** Last event of the log, not of this page. */
  readonly lastSeq: number;
  /** For the next page. Missing on the last page. A page shorter than `limit` may have one. */
  readonly nextCursor?: string;
}

/** A page of the retained log, including rewound and summarised events. It is shorter if its events are large. */
export async function listEvents(env: SessionEnvironment, request: ListEventsRequest): Promise<EventPage> {
  const { bytes: _bytes, ...page } = await listEventsUpTo(env, request, env.limits.maxPageBytes);
  return page;
}

/** Like {@link listEvents}, with another byte limit. Also returns the bytes of the page. */
export async function listEventsUpTo(
  { storage, damage }: SessionEnvironment,
  request: ListEventsRequest,
  maxBytes: number,
): Promise<EventPage & { readonly bytes: number }> {
  const key = checkedSessionKey(request);
  const limit = checkedLimit(request.limit);
  const order = checkedOrder(request.order, 'asc');
  const invocationId = checkedInvocation(request.invocationId);
  const onlyAnswers = optionalFlag(request.modelRequests, 'modelRequests') ?? false;
  const cursor = LogCursor.parse(request.cursor, order);
  const wanted = findListedRange(request, cursor);

  const reads = new IncarnationReads(storage, key, cursor?.incarnation);
  if (invocationId !== undefined && wanted && limit > 0) {
    const isNear = Boolean(cursor ?? (order === 'asc' ? request.afterSeq : request.beforeSeq));
    const reading = new InvocationReader(reads, invocationId, order);
    const { events, bytes, rest } = await reading.read(wanted, limit, maxBytes, isNear);
    const shown = onlyAnswers ? events.filter(isAnswer) : events;
    return { ...createEventPage(reads, shown, order, rest && (order === 'asc' ? rest.from - 1 : rest.to + 1)), bytes };
  }
  const reading = new PageReader(reads, order);
  const page = await reading.read(wanted, onlyAnswers && limit > 0 ? MAX_LIMIT : limit, maxBytes);
  const bytes = eventsBytes(page);
  const events = page.map(readableEvent);
  damage.look(key, events);
  if (!onlyAnswers) return { ...createEventPage(reads, events, order, reading.endOf(wanted, page)), bytes };
  const answers = events.filter(isAnswer).slice(0, limit);
  const last = answers.length === limit ? answers.at(-1) : events.at(-1);
  return { ...createEventPage(reads, answers, order, reading.endOf(wanted, last ? [last] : [])), bytes };
}

/** @param end of the page, if there may be another one */
function createEventPage(
  { record: { firstSeq, lastSeq, incarnation } }: IncarnationReads,
  events: readonly LoggedEvent[],
  order: 'asc' | 'desc',
  end: number | undefined,
): EventPage {
  const nextCursor = end === undefined ? undefined : new LogCursor(incarnation, end, order).toString();
  return { events: [...events], firstSeq, lastSeq, ...(nextCursor !== undefined && { nextCursor }) };
}

function checkedInvocation(invocationId: unknown): string | undefined {
  if (invocationId === undefined || invocationId === null) return undefined;
  // Events without invocation have an empty id, so they form no invocation.
  if (typeof invocationId === 'string' && invocationId !== '') return invocationId;
  throw new InvalidInputError('must be the id of an invocation, as text', 'invocationId');
}

function findListedRange(request: ListEventsRequest, cursor: LogCursor | undefined): SeqRange | undefined {
  const afterSeq = optionalCount(request.afterSeq, 'afterSeq') ?? 0;
  const beforeSeq = optionalCount(request.beforeSeq, 'beforeSeq') ?? Number.MAX_SAFE_INTEGER;
  return leftAfter({ from: afterSeq + 1, to: beforeSeq - 1 }, cursor);
}

/** Reads a page of a log, until it is full by number or by bytes. One read is enough for most pages. */
export class PageReader {
  constructor(
    private readonly reads: IncarnationReads,
    private readonly order: 'asc' | 'desc',
  ) {}

  /** The events of a range, in the order of the page. At least one, if the range has any. */
  async read(wanted: SeqRange | undefined, limit: number, maxBytes: number): Promise<readonly StoredEvent[]> {
    const budget = new ByteBudget(maxBytes);
    const page: StoredEvent[] = [];
    let rest = wanted;
    do {
      const size = Math.min(limit - page.length, MOST_PER_READ);
      const { events, isCut } = await this.#readPortion(rest, size, budget.left);
      for (const event of events) {
        if (!budget.take(eventBytes(event))) return page;
        page.push(event);
      }
      // The next event does not fit: another read would load it in vain.
      if (isCut) return page;
      const end = this.endOf(wanted, events);
      rest = wanted && end !== undefined ? this.#restOf(wanted, end) : undefined;
    } while (rest && page.length < limit);
    return page;
  }

  /** The last event of a page of the range; nothing if no other page follows. */
  endOf(wanted: SeqRange | undefined, page: readonly Pick<StoredEvent, 'seq'>[]): number | undefined {
    const end = page.at(-1)?.seq;
    return wanted !== undefined && end !== undefined && this.#hasMore(wanted, end) ? end : undefined;
  }

  /** Whether the range has events after this one, in the order of the page. */
  #hasMore({ from, to }: SeqRange, end: number): boolean {
    const { firstSeq, lastSeq } = this.reads.record;
    return this.order === 'asc' ? end < Math.min(to, lastSeq) : end > Math.max(from, firstSeq);
  }

  #restOf({ from, to }: SeqRange, end: number): SeqRange {
    return this.order === 'asc' ? { from: end + 1, to } : { from, to: end - 1 };
  }

  async #readPortion(
    stretch: SeqRange | undefined,
    size: number,
    maxBytes: number,
  ): Promise<Pick<StoredSession, 'events' | 'isCut'>> {
    const ranges = stretch ? [stretch] : [];
    const keep = this.order === 'asc' ? 'oldest' : 'newest';
    const read = await this.reads.read({ window: { ranges, limit: size, keep, maxBytes } });
    const found = read.events.filter(({ seq }) => isInRanges(seq, ranges));
    const events = this.order === 'asc' ? found.slice(0, size) : found.slice(-size).toReversed();
    return { events, isCut: read.isCut };
  }
}
