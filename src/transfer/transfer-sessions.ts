import type { UserKey } from '../sessions/domain/ids.js';
import { type ErasedUser, eraseUser as erase } from '../sessions/operations/erase-user.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { exportRecords } from './export-records.js';
import { RecordImport } from './import-records.js';
import type { ImportOptions, ImportResult } from './import-result.js';
import { type NumberedRecord, type TransferInput, readRecords } from './read-lines.js';
import { checkedFilter } from './transfer-filter.js';
import type { TransferFilter, TransferRecord } from './transfer-records.js';
import { RecordComparison, type VerifyResult } from './verify-records.js';
import { writeLines } from './write-lines.js';

/** What to export. */
export interface ExportOptions {
  /** Default: all apps. Apps without sessions must be named. */
  readonly filter?: TransferFilter | undefined;
}

/**
 * Exports sessions with their events, and the state and usage of users and apps, as lines of JSON. Each string is a line with its line
 * break. It never holds more than a page of events.
 *
 * @example
 * import { Readable } from 'node:stream';
 * import { pipeline } from 'node:stream/promises';
 * await pipeline(Readable.from(exportSessions(storage)), createWriteStream('sessions.ndjson'));
 */
export function exportSessions(source: SessionStorage, options: ExportOptions = {}): AsyncGenerator<string> {
  const filter = checkedFilter(options.filter);
  return writeLines(exportRecords(source, filter), { filter, now: Date.now() });
}

/**
 * Exports the sessions, the state and the usage of a user. Component state is not among them.
 *
 * @example await pipeline(Readable.from(exportUser(storage, { appName: 'shop', userId: 'ann' })), response);
 */
export function exportUser(source: SessionStorage, { appName, userId }: UserKey): AsyncGenerator<string> {
  return exportSessions(source, { filter: { appName, userId } });
}

/**
 * Imports an export into a store. What is there already stays, so it can be repeated after a failure, and a second import of the same
 * file changes nothing. Throws `TransferFileError` for a damaged file and `TransferConflictError` for a session that differs.
 *
 * @param input lines, or the chunks of a file
 * @example const { sessions, events } = await importSessions(storage, createReadStream('sessions.ndjson'));
 */
export async function importSessions(
  target: SessionStorage,
  input: TransferInput,
  options: ImportOptions = {},
): Promise<ImportResult> {
  return new RecordImport(target, options).run(readRecords(input, options.cursor));
}

/**
 * Imports records of another system, with the same promises as {@link importSessions}. They are numbered from 1.
 *
 * @example await importRecords(storage, adkSessions({ dialect: 'sqlite', query: (sql, values) => adk.query(sql, values) }));
 */
export async function importRecords(
  target: SessionStorage,
  records: AsyncIterable<TransferRecord>,
  options: ImportOptions = {},
): Promise<ImportResult> {
  return new RecordImport(target, options).run(numbered(records, options.cursor));
}

async function* numbered(records: AsyncIterable<TransferRecord>, after = 0): AsyncGenerator<NumberedRecord> {
  let line = 0;
  for await (const record of records) if (++line > after) yield { line, record };
}

/**
 * Compares an export with a store. Sessions that the file does not have are not looked at.
 *
 * @example const { isEqual, differences } = await verifySessions(storage, createReadStream('sessions.ndjson'));
 */
export async function verifySessions(
  target: SessionStorage,
  input: TransferInput,
  options: ExportOptions = {},
): Promise<VerifyResult> {
  return new RecordComparison(target, checkedFilter(options.filter)).run(readRecords(input));
}

/**
 * Removes all that a store has of a user: sessions with their events and summaries, state, usage, partial events, and work that
 * waits. The same as `eraseUser` of `SessionService`.
 *
 * @example const { sessions } = await eraseUser(storage, { appName: 'shop', userId: 'ann' });
 */
export async function eraseUser(target: SessionStorage, user: UserKey): Promise<ErasedUser> {
  return erase(target, user);
}
