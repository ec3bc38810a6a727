import { inBatches } from '../domain/stored/batches.js';
import { MOST_PER_READ } from '../domain/stored/byte-budget.js';
import { leaveToOthers } from '../domain/process/event-loop-turn.js';
import { type UserKey, sessionKeyOf } from '../domain/values/ids.js';
import type { SessionRecord } from '../domain/stored/session-record.js';
import { UnsupportedByStoreError } from '../domain/errors/unsupported-error.js';
import { listedRecords } from './listed-records.js';
import type { LogTail, TailRequest } from './session-changes.js';
import type { SessionStorage } from './session-storage.js';

/** Logs in one request. */
const MOST_LOGS = 100;

/**
 * How many bytes the sessions of a user have: the events that are kept, and the states with which logs begin. A request for each 100
 * sessions and each 2,000 events; no texts are read. With a sum in each record, every append would pay for it, and every trim, redaction and repair would have to know old sizes.
 */
export async function countBytes(storage: Pick<SessionStorage, 'list' | 'tails'>, owner: UserKey): Promise<number> {
  let bytes = 0;
  let parts: TailRequest[] = [];
  const addUp = async (): Promise<void> => {
    for (const some of inBatches(parts, IN_BATCHES)) {
      for (const tail of await storage.tails(some)) bytes += bytesIn(tail);
      await leaveToOthers();
    }
    parts = [];
  };
  for await (const record of listedRecords(storage, owner, { order: 'asc', pageSize: 1_000 })) {
    parts.push(...splitLogIntoRequests(record));
    if (parts.length >= MOST_LOGS) await addUp();
  }
  await addUp();
  return bytes;
}

const IN_BATCHES = { items: MOST_LOGS, weight: MOST_PER_READ, weightOf: eventsIn };

function eventsIn({ afterSeq, bytesTo = 0 }: TailRequest): number {
  return bytesTo - afterSeq;
}

/** The log, and its base state with the first part. */
function splitLogIntoRequests(record: SessionRecord): TailRequest[] {
  const { incarnation, firstSeq, lastSeq } = record;
  const key = sessionKeyOf(record);
  const parts: TailRequest[] = [];
  for (let afterSeq = firstSeq - 1; ; afterSeq += MOST_PER_READ) {
    const bytesTo = Math.min(afterSeq + MOST_PER_READ, lastSeq);
    parts.push({ key, incarnation, afterSeq, limit: 0, bytesTo });
    if (bytesTo >= lastSeq) return parts;
  }
}

/** A session that is gone has none. */
function bytesIn(tail: LogTail | undefined): number {
  if (!tail) return 0;
  if (tail.bytes !== undefined) return tail.bytes;
  throw new UnsupportedByStoreError(
    'The store does not add up the bytes of logs, which the quota `storedBytes` needs: its `tails` leaves out `bytes`.',
  );
}
