import { entriesBytes, eventBytes } from '../domain/stored/byte-budget.js';
import {
  CHECKPOINT_EVERY,
  type Checkpoint,
  createFirstCheckpoint,
  checkpointText,
  seqOfNext,
  storedCheckpoint,
} from '../domain/history/checkpoint.js';
import type { StoredEvent } from '../domain/stored/commit.js';
import { type Counters, subtractCounters } from '../domain/stored/counters.js';
import type { LoggedEvent } from '../domain/event/event.js';
import { SessionNotFoundError, StoreUnavailableError } from '../domain/errors/errors.js';
import { leaveToOthers } from '../domain/process/event-loop-turn.js';
import { sessionKeyOf } from '../domain/values/ids.js';
import {
  type LogStep,
  type Moment,
  livePath,
  logStep,
  momentAfter,
  uncoveredRange,
  withoutUncovered,
} from '../domain/history/moment.js';
import { retryUndefined } from '../domain/process/retry-overtaken.js';
import { type SeqRange, isInRanges } from '../domain/values/seq-ranges.js';
import type { SessionRecord } from '../domain/stored/session-record.js';
import { BuiltSize, type StateLimits } from '../domain/stored/state-size.js';
import { StateFold } from '../domain/history/state-history.js';
import { isTrimmed, loggedEvent, stateRecord } from '../domain/stored/stored-json.js';
import { ownRecord } from '../storage/state-entries.js';
import type { EventWindow, ReadRequest, SessionStorage, StoredSession } from '../storage/session-storage.js';

/** Events of the record were trimmed before they could be read. Read the record again. */
export class TrimmedDuringRead extends Error {}

/** Returns `undefined` if the log was trimmed during the read; rethrows other errors. */
export function undefinedIfTrimmed(error: unknown): undefined {
  if (!(error instanceof TrimmedDuringRead)) throw error;
}

/** Repeats a read while the log is trimmed. */
export async function fromStableLog<Result>(read: () => Promise<Result>): Promise<Result> {
  const result = await retryUndefined(async () => read().catch(undefinedIfTrimmed));
  if (result !== undefined) return result;
  throw new StoreUnavailableError('The log was trimmed repeatedly while it was read; try again.', false);
}

/** A place in a log, and what was read to get there. */
export interface LogPoint {
  readonly seq: number;
  /** Where the reading began. */
  readonly start: Checkpoint;
  /** The session's state after the event. */
  readonly fold: StateFold;
  /** The events after the start. */
  readonly steps: ReadonlyMap<number, LogStep>;
}

/**
 * Reads state, marks and counters of a session at any event, from the last checkpoint on.
 *
 * @example
 * const log = new LogPoints(storage, record);
 * const point = await log.pointAt(seq);
 * const { marks } = await log.momentOf(point);
 */
export class LogPoints {
  constructor(
    private readonly storage: SessionStorage,
    private readonly record: SessionRecord,
    /** How large the state may be to be built: see `BuiltSize`. Default: any size. */
    private readonly limits?: StateLimits,
  ) {}

  /** Reads the session as it is now, with the last checkpoint up to `seq` or the beginning of its log. */
  static async readBefore(
    storage: SessionStorage,
    session: SessionRecord,
    seq: number,
    limits?: StateLimits,
  ): Promise<{ readonly log: LogPoints; readonly start: Checkpoint }> {
    const read = await readSession(storage, session, { checkpointAt: seq, withBase: true });
    return { log: new LogPoints(storage, read.record, limits), start: findStartCheckpoint(read) };
  }

  /** Reads the events between the last checkpoint and `seq`, which is retained or directly before the log. */
  async pointAt(seq: number): Promise<LogPoint> {
    return this.pointAfter(await this.startBefore(seq), seq);
  }

  /** The same from a known start. */
  async pointAfter(start: Checkpoint, seq: number): Promise<LogPoint> {
    const fold = new StateFold(start.state, start.shared);
    const size = new BuiltSize(this.limits, start.bytes);
    const steps = new Map<number, LogStep>();
    for await (const page of this.#pages({ from: start.seq + 1, to: seq })) {
      for (const stored of page) {
        const event = loggedEvent(stored);
        fold.add(event);
        if (changesState(event)) size.add(eventBytes(stored), () => fold.countBytes());
        steps.set(event.seq, logStep(event));
      }
    }
    return { seq, start, fold, steps };
  }

  /** Marks and counters at the point. Reads more only if a rewind leads to before its start. */
  async momentOf({ seq, start, steps }: LogPoint): Promise<Moment> {
    const path = livePath(steps, seq, start.seq);
    const isWhole = path.from === start.seq;
    const from = isWhole ? await this.#countedFrom(start) : await this.momentOf(await this.pointAt(path.from));
    const moment = momentAfter(from, path.steps);
    const range = uncoveredRange(from, moment);
    return range ? withoutUncovered(moment, await this.#stepsIn(range)) : moment;
  }

  /** The last checkpoint up to `seq`, or the beginning of the log. */
  async startBefore(seq: number): Promise<Checkpoint> {
    const read = await readSession(this.storage, this.record, { checkpointAt: seq, withBase: true });
    if (read.record.firstSeq !== this.record.firstSeq) throw new TrimmedDuringRead();
    return findStartCheckpoint(read);
  }

  /** Derives and saves the checkpoints between a known start and `seq`. Returns the last one, or the start. */
  async saveCheckpoints(start: Checkpoint, seq: number): Promise<Checkpoint> {
    let last = start;
    for (let next = seqOfNext(last); next <= seq; next = seqOfNext(last)) {
      const point = await this.pointAfter(last, next);
      const moment = await this.momentOf(point);
      const derived = { ...moment, state: point.fold.toRecord(), shared: point.fold.toShared() };
      const text = checkpointText(derived);
      const { incarnation } = this.record;
      await this.storage.saveCheckpoint({ key: sessionKeyOf(this.record), incarnation, seq: next, text });
      last = { ...derived, bytes: Buffer.byteLength(text) };
    }
    return last;
  }

  /** Reads a range of the log, all of it. */
  async *read(range: SeqRange): AsyncGenerator<StoredEvent> {
    for await (const page of this.#pages(range)) yield* page;
  }

  async *#pages(range: SeqRange): AsyncGenerator<readonly StoredEvent[]> {
    let next = range.from;
    for await (const page of readLogPages(this.storage, this.record, range)) {
      for (const stored of page) if (stored.seq !== next++ || isTrimmed(stored)) throw new TrimmedDuringRead();
      yield page;
    }
    if (next <= range.to) throw new TrimmedDuringRead();
  }

  /** The beginning of a trimmed log does not know the counters of the trimmed events. */
  async #countedFrom(start: Checkpoint): Promise<Moment> {
    if (start.seq >= this.record.firstSeq || start.seq === 0) return start;
    return { ...start, counters: await this.#trimmedCounts() };
  }

  /** Subtracts the retained events from the counters of a later place where they are known. */
  async #trimmedCounts(): Promise<Counters> {
    const { firstSeq, lastSeq, counters } = this.record;
    const { checkpoint } = await readSession(this.storage, this.record, { checkpointAt: firstSeq + NEAR });
    const isUsable = checkpoint && checkpoint.seq >= firstSeq;
    const known = isUsable ? storedCheckpoint(checkpoint, this.record) : { seq: lastSeq, counters };
    const steps = new Map<number, LogStep>();
    for (const step of await this.#stepsIn({ from: firstSeq, to: known.seq })) steps.set(step.seq, step);
    const path = livePath(steps, known.seq, firstSeq - 1);
    return path.steps.reduce((left, { counts }) => subtractCounters(left, counts), known.counters);
  }

  async #stepsIn(range: SeqRange): Promise<LogStep[]> {
    const from = Math.max(range.from, this.record.firstSeq);
    const steps: LogStep[] = [];
    for await (const stored of this.read({ from, to: range.to })) steps.push(logStep(loggedEvent(stored)));
    return steps;
  }
}

/**
 * Saves the checkpoint at the last event if it is due there, from what the store keeps of the session. No event is read.
 *
 * @param session after the last event
 * @returns `false` if checkpoints have to be derived from the log
 */
export async function saveLatestCheckpoint(
  storage: SessionStorage,
  session: SessionRecord,
  maxStateBytes: StateLimits,
): Promise<boolean> {
  const { lastSeq: seq, incarnation } = session;
  if (seq % CHECKPOINT_EVERY !== 0) return false;
  const parts = { checkpointAt: seq, withBase: true, withState: true, withSharedWrites: true, maxStateBytes };
  const { record, state, sharedWrites, checkpoint, baseState = '{}' } = await readSession(storage, session, parts);
  if (!state || !sharedWrites || record.lastSeq !== seq) return false;
  const isUsable = checkpoint && checkpoint.seq >= record.firstSeq - 1;
  const start = isUsable ? checkpoint : { seq: record.firstSeq - 1, text: baseState };
  const next = seqOfNext({ seq: start.seq, bytes: Buffer.byteLength(start.text) });
  if (next !== seq) return next > seq;
  const bytes = entriesBytes(sharedWrites.user) + entriesBytes(sharedWrites.app);
  new BuiltSize(maxStateBytes, bytes).add(0, () => bytes);
  const shared = { ...stateRecord(sharedWrites.user, 'user'), ...stateRecord(sharedWrites.app, 'app') };
  const { marks, counters } = record;
  const text = checkpointText({ state: ownRecord(state.session), shared, marks, counters });
  await storage.saveCheckpoint({ key: sessionKeyOf(record), incarnation, seq, text });
  return true;
}

function changesState({ actions: { stateDelta } }: LoggedEvent): boolean {
  return Object.keys(stateDelta).length > 0;
}

async function readSession(
  storage: SessionStorage,
  { incarnation, ...session }: SessionRecord,
  part: Omit<ReadRequest, 'key'> & { readonly checkpointAt: number },
): Promise<StoredSession> {
  const key = sessionKeyOf(session);
  const read = await storage.read({ key, ...part });
  if (read?.record.incarnation !== incarnation) throw new SessionNotFoundError(key.sessionId);
  return read;
}

function findStartCheckpoint({ record, checkpoint, baseState = '{}' }: StoredSession): Checkpoint {
  if (checkpoint && checkpoint.seq >= record.firstSeq - 1) return storedCheckpoint(checkpoint, record);
  return createFirstCheckpoint(record, baseState);
}

/** How far after the first event a checkpoint is looked for. */
const NEAR = 1_024;

/** Events per read. */
const PAGE = 128;

/** Pages end at this many bytes of events, so that large events do not fill the memory. */
const LOG_PAGE_BYTES = 4_194_304;

/** Reads a range of the log, page by page, so that a long log does not fill the memory. */
export async function* readLog(
  storage: SessionStorage,
  record: SessionRecord,
  range: SeqRange,
): AsyncGenerator<StoredEvent> {
  for await (const page of readLogPages(storage, record, range)) yield* page;
}

async function* readLogPages(
  storage: SessionStorage,
  record: SessionRecord,
  { from, to }: SeqRange,
): AsyncGenerator<readonly StoredEvent[]> {
  const key = sessionKeyOf(record);
  for (let next = from; next <= to;) {
    await leaveToOthers();
    const range = { from: next, to: Math.min(to, next + PAGE - 1) };
    const page = await storage.read({ key, window: logPage(range) });
    if (page?.record.incarnation !== record.incarnation) throw new SessionNotFoundError(key.sessionId);
    const events = page.events.filter(({ seq }) => isInRanges(seq, [range]));
    yield events;
    next = seqAfterPage(range, events, page.isCut);
  }
}

/** The window of a page of the log, which ends early if its events are large. */
export function logPage(range: SeqRange): EventWindow {
  return { ranges: [range], keep: 'oldest', maxBytes: LOG_PAGE_BYTES };
}

/** Where the page after this one begins. */
export function seqAfterPage({ to }: SeqRange, events: readonly StoredEvent[], isCut = false): number {
  return ((isCut ? events.at(-1)?.seq : undefined) ?? to) + 1;
}
