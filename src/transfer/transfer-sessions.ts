import type { UserKey } from '../sessions/domain/values/ids.js';
import {
  type ErasedUser,
  type EraseUserRequest,
  eraseServedUser,
  eraseUser as eraseStoredUser,
} from '../sessions/operations/erase-user.js';
import { findEnvironment } from '../sessions/service-environment.js';
import { readsOfStorage } from '../sessions/reads/reads-of-storage.js';
import { type StorageSource, storageOf } from '../sessions/storage-source.js';
import { exportRecords } from './export-records.js';
import { RecordImport } from './import-records.js';
import type { ImportOptions, ImportResult } from './import-result.js';
import { type NumberedRecord, type TransferInput, assertParts, readRecords } from './read-lines.js';
import { checkedFilter } from './transfer-filter.js';
import {
  type EraseUserOptions,
  type ExportOptions,
  type VerifyOptions,
  checkedErasure,
  checkedExport,
  checkedImport,
  checkedVerify,
} from './transfer-options.js';
import type { TransferRecord } from './transfer-records.js';
import { RecordComparison, type VerifyResult } from './verify-records.js';
import { writeLines } from './write-lines.js';

/**
 * Exports sessions with their events, and the state and usage of users and apps, as lines of JSON. Each string is a line with its line
 * break. It never holds more than a page of events.
 *
 * @example
 * import { Readable } from 'node:stream';
 * import { pipeline } from 'node:stream/promises';
 * await pipeline(Readable.from(exportSessions(sessions)), createWriteStream('sessions.ndjson'));
 */
export function exportSessions(source: StorageSource, options: ExportOptions = {}): AsyncGenerator<string> {
  const { components, onSkipped } = checkedExport(options);
  const filter = checkedFilter(options.filter);
  const storage = readsOfStorage(storageOf(source));
  return writeLines(exportRecords(storage, filter, components), { filter, now: Date.now(), onSkipped });
}

/**
 * Exports the sessions, the state, the usage and the component state of a user.
 *
 * @example await pipeline(Readable.from(exportUser(sessions, { appName: 'shop', userId: 'ann' })), response);
 */
export function exportUser(
  source: StorageSource,
  { appName, userId }: UserKey,
  options: Omit<ExportOptions, 'filter'> = {},
): AsyncGenerator<string> {
  return exportSessions(source, { ...options, filter: { appName, userId } });
}

/**
 * Imports an export into a store. What is there already stays, so it can be repeated after a failure, and a second import of the same
 * file changes nothing. Throws `TransferFileError` for a damaged file and `TransferConflictError` for a session that differs.
 *
 * @param input lines, or the chunks of a file
 * @example const { sessions, events } = await importSessions(sessions, createReadStream('sessions.ndjson'));
 */
export async function importSessions(
  target: StorageSource,
  input: TransferInput,
  options: ImportOptions = {},
): Promise<ImportResult> {
  return importInto(target, options).run(
    readRecords(input, { after: options.cursor, reportsDamage: options.onBad === 'skip' }),
  );
}

/**
 * Imports records of another system, with the same promises as {@link importSessions}. They are numbered from 1.
 *
 * @example await importRecords(sessions, adkSessions({ dialect: 'sqlite', query: (sql, values) => adk.query(sql, values) }));
 */
export async function importRecords(
  target: StorageSource,
  records: AsyncIterable<TransferRecord>,
  options: ImportOptions = {},
): Promise<ImportResult> {
  return importInto(target, options).run(numbered(records, options.cursor));
}

/** The limits and the holds of a service are known. */
function importInto(target: StorageSource, options: ImportOptions): RecordImport {
  const { limits, holds } = findEnvironment(target) ?? {};
  return new RecordImport(storageOf(target), { ...options, limits: checkedImport(options).limits ?? limits }, holds);
}

async function* numbered(records: AsyncIterable<TransferRecord>, after = 0): AsyncGenerator<NumberedRecord> {
  assertParts(records, 'records', 'records, such as adkSessions(…)');
  let line = 0;
  for await (const record of records) if (++line > after) yield { line, record };
}

/**
 * Compares an export with a store. Sessions that the file does not have are not looked at.
 *
 * @example const { isEqual, differences } = await verifySessions(sessions, createReadStream('sessions.ndjson'));
 */
export async function verifySessions(
  target: StorageSource,
  input: TransferInput,
  options: VerifyOptions = {},
): Promise<VerifyResult> {
  const { filter, components, shared } = checkedVerify(options);
  return new RecordComparison(storageOf(target), checkedFilter(filter), components, shared).run(readRecords(input));
}

/**
 * Removes all that a store has of a user: sessions with their events and summaries, state, usage, component state, partial events,
 * and work that waits. The same as `eraseUser` of `SessionService`, whose hooks, such as a hold, are asked before if it is given.
 *
 * @example const { sessions } = await eraseUser(sessions, { appName: 'shop', userId: 'ann' });
 */
export async function eraseUser(
  target: StorageSource,
  user: EraseUserRequest,
  options: EraseUserOptions = {},
): Promise<ErasedUser> {
  const { components } = checkedErasure(options);
  const environment = findEnvironment(target);
  return environment
    ? eraseServedUser(environment, user, components)
    : eraseStoredUser({ storage: storageOf(target) }, user, { components });
}
