import { inBatches } from '../sessions/domain/stored/batches.js';
import { type UserKey, assertId } from '../sessions/domain/values/ids.js';
import { InvalidInputError, SessionNotFoundError } from '../sessions/domain/errors/errors.js';
import { readableEvent } from '../sessions/domain/stored/damaged-event.js';
import type { SessionRecord } from '../sessions/domain/stored/session-record.js';
import { isTrimmed } from '../sessions/domain/stored/stored-json.js';
import { IncarnationReads } from '../sessions/operations/incarnation-reads.js';
import { PageReader } from '../sessions/operations/list-events.js';
import { listedRecords } from '../sessions/storage/listed-records.js';
import type { SearchIndex } from '../sessions/storage/search-index.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { PER_TRANSACTION } from './entry-batches.js';
import { searchEntryOf } from '../sessions/operations/search-entry.js';

/** Whose events to index again: of a user of an app, of an app, or of all apps. */
export type RebuildRequest = Partial<UserKey>;

/** What was indexed again. */
export interface RebuiltIndex {
  readonly sessions: number;
  /** Those with text. */
  readonly events: number;
}

const ENTRIES_PER_CLEAR = 1_000;
const SESSIONS_PER_PAGE = 100;
const EVENTS_PER_PAGE = 200;
const PAGE_BYTES = 1_048_576;
export function checkedRebuild({ appName, userId }: RebuildRequest): RebuildRequest {
  if (appName !== undefined) assertId(appName, 'appName');
  if (userId !== undefined) assertId(userId, 'userId');
  if (userId !== undefined && appName === undefined) throw new InvalidInputError('is missing', 'appName');
  return { appName, userId };
}

/** Empties the index, and fills it from the logs. What is appended meanwhile is indexed as usual. */
export async function rebuildIndex(
  storage: SessionStorage,
  index: SearchIndex,
  owner: RebuildRequest,
): Promise<RebuiltIndex> {
  while ((await index.clear(owner, ENTRIES_PER_CLEAR)) > 0);
  const apps = owner.appName === undefined ? await storage.consumers.apps() : [owner.appName];
  let [sessions, events] = [0, 0];
  for (const appName of apps) {
    const ofOwner = { appName, userId: owner.userId };
    for await (const record of listedRecords(storage, ofOwner, { order: 'asc', pageSize: SESSIONS_PER_PAGE })) {
      sessions++;
      events += await indexLog(storage, index, record);
    }
  }
  return { sessions, events };
}

/** A session that is deleted meanwhile has nothing to find. */
async function indexLog(
  storage: SessionStorage,
  index: SearchIndex,
  { incarnation, ...key }: SessionRecord,
): Promise<number> {
  const reads = new IncarnationReads(storage, { ...key }, incarnation);
  const reader = new PageReader(reads, 'asc');
  let indexed = 0;
  try {
    for (let from = 1; ;) {
      const stored = await reader.read({ from, to: Number.MAX_SAFE_INTEGER }, EVENTS_PER_PAGE, PAGE_BYTES);
      const readable = stored.filter((event) => !isTrimmed(event)).map(readableEvent);
      const entries = readable.flatMap((event) => searchEntryOf(key, incarnation, event) ?? []);
      for (const some of inBatches(entries, PER_TRANSACTION)) await index.add(some, false);
      indexed += entries.length;
      const last = stored.at(-1);
      if (!last) return indexed;
      from = last.seq + 1;
    }
  } catch (error) {
    if (!(error instanceof SessionNotFoundError)) throw error;
    return indexed;
  }
}
