import { isExpired } from '../../domain/values/expiry.js';
import type { StoredPartial } from '../../domain/stored/partial-event.js';
import type { SessionRecord } from '../../domain/stored/session-record.js';
import type { LogTail, TailRequest } from '../session-changes.js';
import type { EventLog } from './event-log.js';

/** A watch holds memory for what it reads. */
const MOST_BYTES = 131_072;
const NO_EVENTS: LogTail['events'] = [];

/** A session whose log is followed. */
interface FollowedSession {
  readonly record: SessionRecord;
  readonly log: EventLog;
  /** Missing if it is not known. */
  readonly baseState?: string | undefined;
  readonly partials?: readonly StoredPartial[] | undefined;
}

/** What is new in the log of a session; undefined if it is another incarnation. */
export function readLogTail(
  { record, log, baseState, partials = [] }: FollowedSession,
  { incarnation, afterSeq, limit, afterPartial, withLastPartial, bytesTo }: TailRequest,
  now: number,
): LogTail | undefined {
  if (record.incarnation !== incarnation) return undefined;
  const hasGap = limit === 0 || afterSeq + 1 < record.firstSeq;
  const window = { afterSeq, limit, keep: 'oldest', maxBytes: MOST_BYTES } as const;
  return {
    lastSeq: record.lastSeq,
    livesForMs: record.expiresAt - now,
    events: hasGap ? NO_EVENTS : log.window(window, record, now).events,
    ...(withLastPartial && { lastPartial: partials.at(-1)?.number ?? 0 }),
    ...(afterPartial !== undefined && {
      partials: partials.filter(({ number, expiresAt }) => number > afterPartial && !isExpired(expiresAt, now)),
    }),
    ...(bytesTo !== undefined &&
      baseState !== undefined && {
        bytes: (afterSeq < record.firstSeq ? Buffer.byteLength(baseState) : 0) + log.bytesOf(afterSeq + 1, bytesTo),
      }),
  };
}
