import { createHash, randomBytes } from 'node:crypto';
import { groupBy, inBatches } from '../../domain/stored/batches.js';
import { DAY_MS } from '../../domain/values/expiry.js';
import { newStamp } from '../../domain/values/stamp.js';
import { storedJson } from '../../domain/stored/stored-json.js';
import { groupOfDigest, spaceInGroup } from '../../storage/entry-groups.js';
import type { EntryWrite, StoredEntry } from '../../storage/entry-store.js';
import type { SessionStorage } from '../../storage/session-storage.js';
import { type StorageSource, storageOf } from '../../storage-source.js';
import type { AuditRecord } from './audit-record.js';

const DEFAULT_KEEP_DAYS = 365;

const PAGE = 500;

/** Records of two processes never have the same name. */
const PROCESS = randomBytes(9).toString('base64url');
let count = 0;

/** Keeps records in a store: as entries, those of an app together, in the order of their time. */
export async function keepAudit(
  { entries }: Pick<SessionStorage, 'entries'>,
  records: readonly AuditRecord[],
  keepDays = DEFAULT_KEEP_DAYS,
): Promise<void> {
  const writes = records.map((record): EntryWrite => {
    const { at } = record;
    const next = { stamp: newStamp(), rank: at, since: at, text: JSON.stringify(record), ttlMs: keepDays * DAY_MS };
    const name = `${PROCESS}:${String(count++).padStart(12, '0')}`;
    return { space: spaceOf(record.appName, entries.groups), name, expected: undefined, next };
  });
  for (const ofApp of groupBy(writes, ({ space }) => space).values())
    for (const some of inBatches(ofApp, { items: PAGE })) await entries.write(some);
}

/** Which records to read. */
export interface AuditQuery {
  /** Missing: those of questions about no app, such as which apps there are. */
  readonly appName?: string | undefined;
  /** Only of data of this user, or asked by them. */
  readonly userId?: string | undefined;
  /** Only from this time on, in epoch milliseconds. */
  readonly since?: number | undefined;
}

/**
 * The records of `audit: { sink: 'table' }` of an app, oldest first, read page by page.
 *
 * @example for await (const { at, operation, by } of readAudit(storage, { appName: 'shop', userId: 'ann' })) console.log(at, operation, by?.id);
 */
export async function* readAudit(
  source: StorageSource,
  { appName, userId, since }: AuditQuery,
): AsyncGenerator<AuditRecord, void, void> {
  const { entries: store } = storageOf(source);
  const space = spaceOf(appName, store.groups);
  let after: StoredEntry | undefined;
  do {
    const { entries } = await store.range({ space, from: since, after, limit: PAGE });
    const records = entries.map(({ text }) => storedJson(text, 'a record of the audit') as AuditRecord);
    yield* records.filter((record) => userId === undefined || [record.userId, record.by?.id].includes(userId));
    after = entries.length < PAGE ? undefined : entries.at(-1);
  } while (after);
}

/** Nobody has checked the id of the app of a refused request, which may be longer than the name of a space. */
function spaceOf(appName = '', groups = 1): string {
  const digest = createHash('sha256').update(appName).digest();
  const name = `audit:${digest.toString('base64url')}`;
  return groups === 1 ? name : spaceInGroup(groupOfDigest(digest, groups), name);
}
