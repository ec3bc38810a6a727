import { setTimeout as delay } from 'node:timers/promises';
import type { StoredEvent } from '../sessions/domain/stored/commit.js';
import { SessionNotFoundError } from '../sessions/domain/errors/errors.js';
import { sessionKeyOf } from '../sessions/domain/values/ids.js';
import type { SeqRange } from '../sessions/domain/values/seq-ranges.js';
import type { SessionRecord } from '../sessions/domain/stored/session-record.js';
import { logPage, seqAfterPage } from '../sessions/operations/read-log.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';

/** What a check reads at a time, and how long it waits before it reads more. */
export interface Pace {
  /** Events or sessions. */
  readonly pageSize: number;
  readonly pauseMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The log was trimmed, or its session replaced, while it was read. */
export class LogChangedError extends Error {}

/** Waits between two requests to the store. Throws if the check is to stop. */
export async function pause({ pauseMs, signal }: Pace): Promise<void> {
  signal?.throwIfAborted();
  if (pauseMs > 0) await delay(pauseMs, undefined, { signal });
}

/**
 * Reads a range of the log, page by page. Events that the store does not have are left out.
 *
 * @throws LogChangedError
 */
export async function* logPages(
  storage: SessionStorage,
  record: SessionRecord,
  { from, to }: SeqRange,
  pace: Pace,
): AsyncGenerator<readonly StoredEvent[]> {
  let next = from;
  while (next <= to) {
    const range = { from: next, to: Math.min(to, next + pace.pageSize - 1) };
    const read = await storage.read({ key: sessionKeyOf(record), window: logPage(range) });
    if (!read) throw new SessionNotFoundError(record.sessionId);
    if (read.record.incarnation !== record.incarnation || read.record.firstSeq !== record.firstSeq) {
      throw new LogChangedError();
    }
    const events = read.events.filter(({ seq }) => seq >= range.from && seq <= range.to);
    yield events;
    next = seqAfterPage(range, events, read.isCut);
    await pause(pace);
  }
}
