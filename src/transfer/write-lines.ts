import { createHash } from 'node:crypto';
import type { StateEntries } from '../sessions/storage/session-storage.js';
import {
  type SessionLine,
  type SkippedSession,
  type StateLine,
  type TransferFilter,
  type TransferRecord,
  NO_TRANSFER,
  countedWith,
} from './transfer-records.js';

/** The name of the format, in the first line of a file. */
export const TRANSFER_FORMAT = 'agent-sessions';
/** The version that is written, and the newest that is read. */
export const TRANSFER_VERSION = 1;

interface WriteOptions {
  readonly filter: TransferFilter;
  readonly now: number;
  readonly onSkipped?: ((skipped: SkippedSession) => void) | undefined;
}

/** The lines of an export, each with its line break: header, records, footer. */
export async function* writeLines(
  records: AsyncIterable<TransferRecord>,
  { filter, now, onSkipped }: WriteOptions,
): AsyncGenerator<string> {
  const digest = createHash('sha256');
  let counts = NO_TRANSFER;
  const hashed = (text: string): string => {
    const line = `${text}\n`;
    digest.update(line);
    return line;
  };
  yield hashed(
    JSON.stringify({
      kind: 'header',
      format: TRANSFER_FORMAT,
      version: TRANSFER_VERSION,
      exportedAt: new Date(now).toISOString(),
      filter,
    }),
  );
  for await (const record of records) {
    counts = countedWith(counts, record);
    yield hashed(formatRecordLine(record));
    if (record.kind !== 'skipped') continue;
    const { kind: _kind, ...skipped } = record;
    onSkipped?.(skipped);
  }
  yield `${JSON.stringify({ kind: 'footer', counts, digest: digest.digest('hex') })}\n`;
}

/** JSON texts go into the line as they are: they are not parsed. */
function formatRecordLine(record: TransferRecord): string {
  if (record.kind === 'event') {
    const { kind, seq, appendedAt, payload } = record;
    return withRaw({ kind, seq, appendedAt }, { event: payload });
  }
  if (record.kind === 'session') return sessionText(record);
  return record.kind === 'state' ? stateText(record) : JSON.stringify(record);
}

function sessionText({ metadata, state, baseState, ...fields }: SessionLine): string {
  return withRaw(fields, { metadata: objectText(metadata), state: objectText(state), baseState });
}

function stateText({ entries, ...fields }: StateLine): string {
  return withRaw(fields, { state: objectText(entries) });
}

/** An object with more members, which are JSON texts. */
function withRaw(fields: object, raw: Readonly<Record<string, string>>): string {
  const members = Object.entries(raw).map(([name, text]) => `,"${name}":${text}`);
  return `${JSON.stringify(fields).slice(0, -1)}${members.join('')}}`;
}

function objectText(entries: StateEntries): string {
  return `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}
