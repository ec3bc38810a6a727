import type { StoredEvent } from '../domain/stored/commit.js';
import { SessionNotFoundError } from '../domain/errors/errors.js';
import type { SessionKey } from '../domain/values/ids.js';
import { newestOf } from '../domain/values/seq-ranges.js';
import { type SessionRecord, retentionProblem } from '../domain/stored/session-record.js';
import { visibleRanges } from '../domain/stored/view-marks.js';
import type { EventWindow, ReadRequest, SessionStorage, StoredSession } from '../storage/session-storage.js';
import { fromStableLog, LogPoints } from './read-log.js';
import type { SessionReader } from './read-view.js';

/**
 * Reads a session as it was when an event was the last one: its log up to there, by the marks and at the time of then. Events that were
 * trimmed since are missing. State and metadata are those of now.
 *
 * @param path of `seq` in the request, for an error
 */
export async function readerAt(
  storage: SessionStorage,
  key: SessionKey,
  seq: number,
  path: string,
): Promise<SessionReader> {
  return fromStableLog(async () => {
    const read = await storage.read({ key, window: windowOf(seq) });
    if (!read) throw new SessionNotFoundError(key.sessionId);
    const { record } = read;
    const problem = retentionProblem(record, seq, path);
    if (problem) throw problem;
    const then = read.events.find((event) => event.seq === seq)?.appendedAt ?? record.createTime;
    if (seq === record.lastSeq) return new MomentReader(storage, record, then);
    const log = new LogPoints(storage, record);
    const { marks } = await log.momentOf(await log.pointAt(seq));
    return new MomentReader(storage, { ...record, marks, lastSeq: seq }, then);
  });
}

class MomentReader implements SessionReader {
  readonly isInProcess: boolean | undefined;

  constructor(
    private readonly storage: SessionStorage,
    /** As it was. */
    private readonly record: SessionRecord,
    private readonly now: number,
  ) {
    this.isInProcess = storage.isInProcess;
  }

  async read({ window, withSummary, ...request }: ReadRequest): Promise<StoredSession | undefined> {
    const read = await this.storage.read({ ...request, ...(window && { window: this.#windowOf(window) }) });
    const { marks, lastSeq, incarnation } = this.record;
    // The session may have been deleted, and created again.
    if (read?.record.incarnation !== incarnation) return undefined;
    const summary = withSummary && marks.summarySeq > 0 ? await this.#readEvent(request, marks.summarySeq) : undefined;
    return { ...read, record: { ...read.record, marks, lastSeq }, now: this.now, ...(summary && { summary }) };
  }

  /** A store knows only the view and the time of now. */
  #windowOf({ inView, maxAgeMs, ...window }: EventWindow): EventWindow {
    return {
      ...window,
      ...(inView && { ranges: newestOf(visibleRanges(this.record), window.limit ?? Infinity) }),
      ...(maxAgeMs !== undefined && { since: this.now - maxAgeMs }),
    };
  }

  async #readEvent({ key }: Pick<ReadRequest, 'key'>, seq: number): Promise<StoredEvent | undefined> {
    const read = await this.storage.read({ key, window: windowOf(seq) });
    return read?.events.find((event) => event.seq === seq);
  }
}

function windowOf(seq: number): EventWindow {
  return { ranges: [{ from: seq, to: seq }] };
}
