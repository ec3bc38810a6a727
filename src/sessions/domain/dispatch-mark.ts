/** Which events of a session wait to be dispatched to consumers. */
export interface DispatchMark {
  /** The last event that was dispatched to durable consumers. Where nobody consumes, older ones were not either. */
  readonly dispatchedSeq: number;
  /** When the first event after it was appended, by the store's clock; 0 if none waits. */
  readonly waitingSince: number;
}

/** A mark and the end of the log. */
export interface MarkedLog extends DispatchMark {
  readonly lastSeq: number;
}

/** A mark without waiting events. */
export const NOTHING_WAITS = 0;

/**
 * The mark of a session after it got events. Only the first event after a dispatch changes it. So it costs nothing while
 * events wait, or where nobody consumes. `recordAfter` applies it.
 *
 * @example const record = { ...before, lastSeq, ...markAfterAppend(before, now) };
 */
export function markAfterAppend(record: MarkedLog, now: number): DispatchMark {
  const { dispatchedSeq, waitingSince, lastSeq } = record;
  if (waitingSince !== NOTHING_WAITS) return { dispatchedSeq, waitingSince };
  return { dispatchedSeq: lastSeq, waitingSince: markTime(now) };
}

/**
 * The mark of a session whose events up to `lastSeq` were dispatched; `undefined` if it changed meanwhile in another
 * way than by new events.
 *
 * @param seen the mark and the last event that were dispatched
 * @example
 * const mark = markAfterDispatch(record, seen, now);
 * if (mark) session.record = { ...record, ...mark };
 */
export function markAfterDispatch(record: MarkedLog, seen: MarkedLog, now: number): DispatchMark | undefined {
  if (record.waitingSince === NOTHING_WAITS || record.dispatchedSeq !== seen.dispatchedSeq) return undefined;
  const isAll = record.lastSeq === seen.lastSeq;
  return { dispatchedSeq: seen.lastSeq, waitingSince: isAll ? NOTHING_WAITS : markTime(now) };
}

/** The time of a mark. 0 means that nothing waits. */
export function markTime(now: number): number {
  return Math.max(1, Math.floor(now));
}
