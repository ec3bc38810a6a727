import { readableEvent } from '../../sessions/domain/stored/damaged-event.js';
import { SessionNotFoundError } from '../../sessions/domain/errors/errors.js';
import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import { sessionKeyOf } from '../../sessions/domain/values/ids.js';
import { type SeqRange, isInRanges, oldestOf, rangesAbove } from '../../sessions/domain/values/seq-ranges.js';
import type { SessionRecord } from '../../sessions/domain/stored/session-record.js';
import { visibleRanges } from '../../sessions/domain/stored/view-marks.js';
import type { EventWindow, SessionStorage } from '../../sessions/storage/session-storage.js';

const PAGE_SIZE = 200;

/** The events of a session that are neither summarised nor rewound, as the record says. Reading does not extend its expiry. */
export class VisibleLog {
  readonly ranges: readonly SeqRange[];

  constructor(
    private readonly storage: SessionStorage,
    private readonly record: SessionRecord,
  ) {
    this.ranges = visibleRanges(record);
  }

  /** Page by page, from the oldest on. */
  async *oldest(ranges: readonly SeqRange[] = this.ranges): AsyncGenerator<LoggedEvent> {
    for (let unread = ranges; unread.length > 0;) {
      const page = oldestOf(unread, PAGE_SIZE);
      yield* await this.read({ ranges: page });
      unread = rangesAbove(unread, page.at(-1)?.to ?? Infinity);
    }
  }

  async read(window: EventWindow): Promise<LoggedEvent[]> {
    const { sessionId, incarnation } = this.record;
    const read = await this.storage.read({ key: sessionKeyOf(this.record), window });
    if (read?.record.incarnation !== incarnation) throw new SessionNotFoundError(sessionId);
    // A store may return more events than requested, and events that were appended after the request.
    return read.events.filter(({ seq }) => isInRanges(seq, window.ranges ?? this.ranges)).map(readableEvent);
  }
}
