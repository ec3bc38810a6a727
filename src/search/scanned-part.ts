import { eventBytes } from '../sessions/domain/stored/byte-budget.js';
import { readableEvent } from '../sessions/domain/stored/damaged-event.js';
import { leaveToOthers } from '../sessions/domain/process/event-loop-turn.js';
import { hasEntries } from '../sessions/domain/metadata/metadata-entries.js';
import { isTrimmed } from '../sessions/domain/stored/stored-json.js';
import type { ScanPosition } from '../sessions/domain/search/search-cursor.js';
import { listedRecords } from '../sessions/storage/listed-records.js';
import type { SearchScope } from '../sessions/storage/search-index.js';
import type { SessionStorage, StoredSession } from '../sessions/storage/session-storage.js';
import { foundTextOf } from '../sessions/operations/search-entry.js';

/** An event with text. */
export interface ScannedEvent {
  readonly sessionId: string;
  readonly seq: number;
  readonly id: string;
  readonly author: string;
  readonly at: number;
  readonly text: string;
}

/** A part of the logs. */
interface ScannedPart {
  /** Where it begins: nowhere if there is nothing. */
  readonly first: ScanPosition | undefined;
  /** Where the next one begins, if there is one. */
  readonly rest: ScanPosition | undefined;
}

/** Limits of one request: how long it takes, and how much it asks of the store. */
const MOST_EVENTS = 2_000;
const MOST_BYTES = 4 * 1_024 * 1_024;
const MOST_READS = 100;
const EVENTS_PER_READ = 200;
const SESSIONS_PER_PAGE = 100;
const MOST_EXAMINED = 1_000;

/** Reads events from the newest session on, in each from the newest event on, until a limit is reached. */
export async function readPart(
  storage: SessionStorage,
  scope: SearchScope,
  from: ScanPosition | undefined,
  onEvent: (event: ScannedEvent) => void,
): Promise<ScannedPart> {
  let [events, bytes, reads] = [0, 0, 0];
  let first: ScanPosition | undefined;
  for await (const session of sessionsFrom(storage, scope, from)) {
    let { beforeSeq } = session;
    while (beforeSeq > 1) {
      if (events >= MOST_EVENTS || bytes >= MOST_BYTES || reads >= MOST_READS) {
        return { first, rest: { ...session, beforeSeq } };
      }
      const read = await readBefore(storage, { ...scope, sessionId: session.sessionId }, beforeSeq);
      reads++;
      if (!read) break;
      first ??= { ...session, beforeSeq: Math.min(beforeSeq, read.record.lastSeq + 1) };
      for (const stored of read.events.toReversed()) {
        await leaveToOthers();
        events++;
        bytes += eventBytes(stored);
        if (isTrimmed(stored)) continue;
        const found = foundTextOf(readableEvent(stored));
        if (found.text === '' || found.at < (scope.afterTimestamp ?? -Infinity)) continue;
        onEvent({ ...found, sessionId: session.sessionId });
      }
      beforeSeq = read.events[0]?.seq ?? 1;
      if (beforeSeq <= read.record.firstSeq) break;
    }
  }
  return { first, rest: undefined };
}

async function readBefore(
  storage: SessionStorage,
  key: SearchScope & { readonly sessionId: string },
  beforeSeq: number,
): Promise<StoredSession | undefined> {
  const { appName, userId, sessionId, entries } = key;
  const ranges = [{ from: 1, to: beforeSeq - 1 }];
  const window = { ranges, limit: EVENTS_PER_READ, keep: 'newest', maxBytes: MOST_BYTES } as const;
  const withMetadata = entries.length > 0;
  const read = await storage.read({ key: { appName, userId, sessionId }, window, withMetadata });
  // Also where a forged cursor, or the request, names the session.
  if (!hasEntries(read?.metadata ?? '', entries)) return undefined;
  // A store may return more than it was asked for.
  return read && { ...read, events: read.events.filter(({ seq }) => seq < beforeSeq) };
}

/** The sessions to read, and up to where. */
async function* sessionsFrom(
  storage: SessionStorage,
  { appName, userId, sessionId, entries }: SearchScope,
  from: ScanPosition | undefined,
): AsyncGenerator<ScanPosition, void, void> {
  const wholeLog = { beforeSeq: Number.MAX_SAFE_INTEGER };
  if (sessionId !== undefined) {
    yield { createTime: 0, ...wholeLog, ...from, sessionId };
    return;
  }
  if (from) yield from;
  const after = from && { time: from.createTime, userId, sessionId: from.sessionId };
  const filter = entries.length > 0 ? { entries, maxExamined: MOST_EXAMINED } : undefined;
  const options = { order: 'desc', pageSize: SESSIONS_PER_PAGE, filter, after } as const;
  const records = listedRecords(storage, { appName, userId }, options);
  for await (const { createTime, sessionId: id } of records) yield { createTime, sessionId: id, ...wholeLog };
}
