import { isReadable } from '../domain/stored/damaged-event.js';
import { InvalidInputError, SessionNotFoundError } from '../domain/errors/errors.js';
import {
  type DueEvent,
  type KindRule,
  type LogMarks,
  LogReading,
  dueEvent,
} from '../domain/retention/event-retention.js';
import type { RetainedEvent } from '../domain/retention/event-tally.js';
import type { SessionKey } from '../domain/values/ids.js';
import { type RetentionPolicy, isHeld } from '../domain/retention/retention-rules.js';
import { searchedText } from '../domain/search/event-text.js';
import { parseMetadataText } from '../domain/session/tracked-metadata.js';
import type { SessionRecord } from '../domain/stored/session-record.js';
import { loggedEvent } from '../domain/stored/stored-json.js';
import { isInRanges } from '../domain/values/seq-ranges.js';
import { writeMarks } from '../retention/retention-marks.js';
import type { SessionEnvironment } from '../session-environment.js';
import { logPage, seqAfterPage } from './read-log.js';
import { replaceEvents, whileNobodyReplaces } from './replace-events.js';
import { searchEntryOf } from './search-entry.js';

/** Events that are read together. */
const PAGE = 128;

/** The session whose events are looked at. */
export interface RetainedLog {
  readonly key: SessionKey;
  readonly incarnation: string;
  readonly rules: readonly KindRule[];
  readonly marks: LogMarks;
}

/** How to look at it. */
export interface RetainEventsOptions extends Pick<RetentionPolicy, 'holds'> {
  /** Replaces nothing. */
  readonly dryRun: boolean;
  readonly signal: AbortSignal | undefined;
  readonly now: number;
}

/**
 * Takes from the events of a log what its rules name, page by page. The mark is written after each page, so a run that was killed is
 * continued. Returns each page of what had to go.
 */
export async function* retainEvents(
  { storage, holds }: Pick<SessionEnvironment, 'storage' | 'holds'>,
  log: RetainedLog,
  options: RetainEventsOptions,
): AsyncGenerator<readonly RetainedEvent[], void, void> {
  const { key, incarnation, rules } = log;
  let marks = log.marks;
  while (!options.signal?.aborted && !new LogReading(rules, marks).isDone) {
    const seen = await readPage(storage, log, marks, options);
    if (!seen) return;
    const replace = async (): Promise<LogPage | undefined> => {
      // Another one may have replaced some of them meanwhile, or holds the session since the run began.
      const stored = await holds.all();
      const page = await readPage(storage, log, marks, { ...options, holds: [...options.holds, ...stored] });
      if (page && page.due.length > 0) {
        const texts = page.due.map(({ event }) => event);
        await replaceEvents(storage, page.record, texts);
      }
      return page;
    };
    const isWrite = !options.dryRun && seen.due.length > 0;
    const page = isWrite ? await whileNobodyReplaces(storage, key, replace).catch(undefinedIfGone) : seen;
    if (!page) return;
    if (isWrite) await indexAgain(storage, log, page.due);
    if (!options.dryRun) await writeMarks(storage.entries, incarnation, page.marks);
    yield page.due.map((one) => ({ appendedAt: one.appendedAt, rules: one.rules, isRemoved: isWrite }));
    ({ marks } = page);
  }
}

interface LogPage {
  readonly record: SessionRecord;
  readonly due: readonly (DueEvent & { readonly appendedAt: number; readonly isSearched: boolean })[];
  readonly marks: LogMarks;
}

/** Undefined if the session is gone, or held. */
async function readPage(
  storage: SessionEnvironment['storage'],
  { key, incarnation, rules }: RetainedLog,
  marks: LogMarks,
  { holds, now }: RetainEventsOptions,
): Promise<LogPage | undefined> {
  const reading = new LogReading(rules, marks);
  const range = { from: reading.from, to: reading.from + PAGE - 1 };
  const read = await storage.read({ key, window: logPage(range), withMetadata: true });
  if (read?.record.incarnation !== incarnation) return undefined;
  if (isHeld(parseMetadataText(read.metadata ?? ''), holds)) return undefined;
  const { record } = read;
  const due: LogPage['due'][number][] = [];
  const events = read.events.filter(({ seq }) => isInRanges(seq, [range]));
  for (const stored of events) {
    const dueRules = reading.add(stored);
    // The doctor looks after what is damaged.
    if (!isReadable(stored)) continue;
    const event = loggedEvent(stored);
    const found = dueEvent(event, dueRules, { at: now, reason: 'retention' });
    if (!found) continue;
    const isSearched = searchedText(event) !== searchedText(found.event);
    due.push({ ...found, appendedAt: stored.appendedAt, isSearched });
  }
  // What was trimmed is not there.
  const next = Math.max(seqAfterPage(range, events, read.isCut), Math.min(record.firstSeq, record.lastSeq + 1));
  if (next > record.lastSeq) reading.end(record.lastSeq, Math.floor(read.now));
  else reading.skipTo(next - 1);
  return { record, due, marks: reading.marks };
}

/** An index has words of them. What is left of an event is still found. */
async function indexAgain(
  { search }: SessionEnvironment['storage'],
  { key, incarnation }: RetainedLog,
  due: LogPage['due'],
): Promise<void> {
  for (const { event, isSearched } of due) {
    if (isSearched) await search?.replace(incarnation, event.id, searchEntryOf(key, incarnation, event));
  }
}

function undefinedIfGone(error: unknown): undefined {
  if (error instanceof SessionNotFoundError || error instanceof InvalidInputError) return undefined;
  throw error;
}
