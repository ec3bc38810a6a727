import type { StoredEvent } from '../domain/commit.js';
import { SessionNotFoundError } from '../domain/errors.js';
import { sessionKeyOf } from '../domain/ids.js';
import { type SeqRange, isInRanges } from '../domain/seq-ranges.js';
import type { SessionRecord } from '../domain/session-record.js';
import type { SessionStorage } from '../storage/session-storage.js';

/** Events per read. They may be large, and are in memory together. */
const PAGE = 128;

/** Reads a range of the log, page by page, so that a long log does not fill the memory. */
export async function* readLog(
  storage: SessionStorage,
  record: SessionRecord,
  { from, to }: SeqRange,
): AsyncGenerator<StoredEvent> {
  const key = sessionKeyOf(record);
  for (let next = from; next <= to; next += PAGE) {
    const ranges = [{ from: next, to: Math.min(to, next + PAGE - 1) }];
    const page = await storage.read({ key, window: { ranges } });
    if (page?.record.incarnation !== record.incarnation) throw new SessionNotFoundError(key.sessionId);
    yield* page.events.filter(({ seq }) => isInRanges(seq, ranges));
  }
}
