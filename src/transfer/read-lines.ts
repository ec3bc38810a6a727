import { createHash } from 'node:crypto';
import { InvalidInputError } from '../sessions/domain/errors/errors.js';
import { TransferFileError } from './transfer-errors.js';
import { type TransferCounts, type TransferRecord, NO_TRANSFER, countedWith } from './transfer-records.js';
import { isTooDeep } from './json-depth.js';
import { parsedRecord } from './parse-record.js';
import { TRANSFER_FORMAT, TRANSFER_VERSION } from './write-lines.js';

/** Parts of a file: lines, or pieces of any length, as a stream gives them. */
export type TransferInput = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

type TransferParts = AsyncIterable<unknown> & Iterable<unknown>;

/** Longer lines are refused, so that a file that is none does not fill the memory. */
const MOST_CHARACTERS_PER_LINE = 64 * 1_048_576;

/** A record with the number of its line. */
export interface NumberedRecord {
  /** Counted from 1; the header is the first line. */
  readonly line: number;
  readonly record: TransferRecord;
}

/** How to read a file. */
interface ReadOptions {
  /** Skips records up to this line. */
  readonly after?: number | undefined;
  /** Makes damage a record of kind `bad`, instead of an error. */
  readonly reportsDamage?: boolean | undefined;
}

/** Reads the records of an export, and checks the order of its lines, its counts and its digest. */
export async function* readRecords(
  input: TransferInput,
  { after = 0, reportsDamage = false }: ReadOptions = {},
): AsyncGenerator<NumberedRecord> {
  const digest = createHash('sha256');
  let [line, counts, isComplete] = [0, NO_TRANSFER, false];
  const damage = (error: TransferFileError): NumberedRecord => {
    if (!reportsDamage) throw error;
    return { line, record: { kind: 'bad', problem: error.problem } };
  };
  for await (const text of splitInputLines(input)) {
    line++;
    if (line === 1) {
      assertHeader(parsedObject(text, line));
    } else if (isComplete) {
      yield damage(new TransferFileError('the file goes on after its footer', line));
      return;
    } else {
      const record = readLine(text, line);
      if (record instanceof TransferFileError) {
        yield damage(record);
      } else if (record.kind === 'footer') {
        if (!isFooterOf(record.fields, { counts, digest: digest.digest('hex') })) {
          yield damage(new TransferFileError('the footer does not fit: lines are missing or were changed', line));
        }
        isComplete = true;
        continue;
      } else {
        counts = countedWith(counts, record);
        if (line > after) yield { line, record };
      }
    }
    digest.update(text).update('\n');
  }
  if (!isComplete) yield damage(new TransferFileError('the file ends without its footer: it was cut off', line));
  // Nothing of it would be imported, as if all were done.
  else if (line < after)
    yield damage(new TransferFileError(`it has ${line} lines; the cursor ${after} is of another one`));
}

type Footer = { readonly kind: 'footer'; readonly fields: Readonly<Record<string, unknown>> };

function readLine(text: string, line: number): TransferRecord | Footer | TransferFileError {
  try {
    const fields = parsedObject(text, line);
    return fields.kind === 'footer' ? { kind: 'footer', fields } : parsedRecord(fields, line);
  } catch (error) {
    if (error instanceof TransferFileError) return error;
    throw error;
  }
}

function isFooterOf(
  footer: Readonly<Record<string, unknown>>,
  { counts, digest }: { readonly counts: TransferCounts; readonly digest: string },
): boolean {
  const given = (footer.counts ?? {}) as Readonly<Record<string, unknown>>;
  return footer.digest === digest && Object.entries(counts).every(([name, count]) => (given[name] ?? 0) === count);
}

function assertHeader({ kind, format, version }: Readonly<Record<string, unknown>>): void {
  if (kind !== 'header' || format !== TRANSFER_FORMAT)
    throw new TransferFileError('the file is no export of sessions', 1);
  if (version !== TRANSFER_VERSION) {
    throw new TransferFileError(
      `its version is ${JSON.stringify(version)}, and this package reads version ${TRANSFER_VERSION}: use a newer one`,
      1,
    );
  }
}

function parsedObject(text: string, line: number): Readonly<Record<string, unknown>> {
  if (isTooDeep(text)) throw new TransferFileError('it is nested too deeply', line);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    throw new TransferFileError('it is no JSON', line);
  }
  if (typeof parsed !== 'object' || parsed === null) throw new TransferFileError('it is no JSON object', line);
  return parsed as Readonly<Record<string, unknown>>;
}

/** The lines of a text in pieces, without line breaks, also those of Windows. */
async function* splitInputLines(input: TransferInput): AsyncGenerator<string> {
  assertParts(input, 'input', 'lines or chunks of a file, such as createReadStream(path)');
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of input) {
    const text = typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true });
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      yield withoutReturn(rest + text.slice(start, end));
      rest = '';
      start = end + 1;
    }
    // Only new text is searched, so that a long line in many pieces costs its length.
    rest += text.slice(start);
    if (rest.length > MOST_CHARACTERS_PER_LINE) throw new TransferFileError('a line is too long');
  }
  rest += decoder.decode();
  if (rest !== '') yield withoutReturn(rest);
}

/** Refuses what has no parts to read. */
export function assertParts(value: unknown, path: string, expected: string): void {
  const { [Symbol.iterator]: now, [Symbol.asyncIterator]: later } = Object(value) as Partial<TransferParts>;
  if (typeof (now ?? later) !== 'function') throw new InvalidInputError(`must be ${expected}`, path);
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
