import { CHECKPOINT_EVERY } from '../sessions/domain/history/checkpoint.js';
import type { Counters } from '../sessions/domain/stored/counters.js';
import { SessionNotFoundError } from '../sessions/domain/errors/errors.js';
import type { LoggedEvent } from '../sessions/domain/event/event.js';
import { type Lifetimes, NEVER, isExpired } from '../sessions/domain/values/expiry.js';
import { type SessionKey, sessionKeyOf } from '../sessions/domain/values/ids.js';
import type { MetadataChange } from '../sessions/domain/metadata/metadata-entries.js';
import { retryOvertaken } from '../sessions/domain/process/retry-overtaken.js';
import type { SessionRecord } from '../sessions/domain/stored/session-record.js';
import type { StateExcess } from '../sessions/domain/stored/state-size.js';
import { loggedEvent } from '../sessions/domain/stored/stored-json.js';
import type { ModelUsage } from '../sessions/domain/usage/usage.js';
import type { ViewMarks } from '../sessions/domain/stored/view-marks.js';
import type { EventText } from '../sessions/storage/rebuild.js';
import type { SessionStorage, StoredSession } from '../sessions/storage/session-storage.js';
import type { StateChanges } from '../state/state-changes.js';
import { checkpointNotes, differences, metadataDifference, recordNotes, rightUsage, usageNotes } from './compare.js';
import { textsForDamaged } from './event-repair.js';
import type { Note } from './findings.js';
import { wrongGroups } from './group-check.js';
import { LiveSums, livePathOf, computeViewMarks } from './live-path.js';
import { LogCheck, listAnchorSeqs } from './log-check.js';
import { LogChangedError, type Pace, logPages } from './log-pages.js';
import type { SharedWrites } from './shared-writes.js';
import { type LimitedReads, type ReadForCheck, excessNote, readForCheck } from './state-excess.js';
import type { LeftCall } from './tool-check.js';

/** What makes a session right again. */
export interface RepairPlan {
  /** Changes of the stored state. */
  readonly changes: StateChanges;
  /** What the record should have; unknown if the beginning of the log was trimmed. */
  readonly counters?: Counters | undefined;
  readonly marks?: ViewMarks | undefined;
  readonly highWater: number;
  /** Changes of the metadata. */
  readonly metadata: readonly MetadataChange[];
  /** What is stored beside the record and is not right. */
  readonly beside: Pick<Beside, 'anchors' | 'checkpoints' | 'groups'>;
  /** The tokens, if others are stored. */
  readonly usage?: readonly ModelUsage[] | undefined;
  /** Calls to answer. */
  readonly leftCalls: readonly LeftCall[];
}

/** What the log says about data beside the record. */
interface Beside {
  readonly notes: Note[];
  /** Events that are not found as anchors. */
  readonly anchors: number[];
  /** The events of checkpoints that are not right. */
  readonly checkpoints: number[];
  /** Groups of events that the index does not find, or finds wrongly. */
  readonly groups: Set<string>;
}

/** What the check of a session found. */
export interface SessionCheck {
  readonly stored: StoredSession;
  /** How many events were read. */
  readonly events: number;
  readonly notes: readonly Note[];
  /** Missing if the log is not whole: then nothing follows from it. */
  readonly plan?: RepairPlan | undefined;
  /** Texts for damaged events, after which there is a plan. */
  readonly texts?: readonly EventText[] | undefined;
}

/** What a check of sessions needs. */
export interface CheckEnvironment extends LimitedReads {
  readonly pace: Pace;
  /** The lifetimes that sessions should have, if they are known. */
  readonly lifetimes?: Lifetimes | undefined;
}

/**
 * Reads a session and its whole log, and compares what is stored with what follows from the events. Others may append
 * meanwhile: only events up to the record that was read first count. `undefined` if there is no such session any more.
 *
 * @param shared learns what the events did to shared state
 */
export async function checkSession(
  env: CheckEnvironment,
  key: SessionKey,
  shared: readonly SharedWrites[] = [],
): Promise<SessionCheck | undefined> {
  const check = async (): Promise<SessionCheck | undefined> => {
    const read = await readForCheck(env, key);
    return read && checkStored(env, read, shared);
  };
  return retryOvertaken(check, isLogChanged).catch((error: unknown) => {
    if (error instanceof SessionNotFoundError || isLogChanged(error)) return undefined;
    throw error;
  });
}

function isLogChanged(error: unknown): boolean {
  return error instanceof LogChangedError;
}

async function checkStored(
  env: CheckEnvironment,
  { stored, excess }: ReadForCheck,
  shared: readonly SharedWrites[],
): Promise<SessionCheck> {
  const { record } = stored;
  const isTrimmed = record.firstSeq > 1;
  const fold = new LogCheck(record, excess ? undefined : (stored.baseState ?? '{}'), env.stateLimits);
  const beside = await foldLog(env, record, fold, shared);
  const expiry = expiryNotes('session', record.expiresAt, env.lifetimes);
  const checked = { stored, events: Math.max(0, record.lastSeq - record.firstSeq + 1) };
  const size = sizeNotes(stored.record, fold, excess);
  if (!fold.isWhole) {
    const notes = [...fold.notes, ...size, ...beside.notes, ...expiry];
    return { ...checked, notes, texts: textsForDamaged(stored, fold) };
  }

  const path = livePathOf(fold.controls, { from: record.firstSeq, to: record.lastSeq });
  const marksWithout = computeViewMarks(fold.controls, path);
  const sums = fold.controls.length === 0 ? fold.sums : await sumsOf(env, record, path, marksWithout.viewFromSeq);
  const { counters } = sums;
  const marks = { ...marksWithout, covered: sums.covered };
  const expected = { state: fold.state?.toRecord(), ...(!isTrimmed && { counters, marks }) };
  const { notes, changes } = differences(record, stored.state?.session ?? [], expected);
  const metadata = metadataDifference(stored.metadata ?? '', fold);
  const isRunning = !isExpired(record.turn.expiresAt, stored.now);
  const tokens = usageNotes(record.usage, fold, isTrimmed);
  return {
    ...checked,
    notes: [
      ...size,
      ...notes,
      ...metadataNotes(metadata),
      ...recordNotes(record, fold),
      ...sums.tools.notes(isRunning),
      ...beside.notes,
      ...tokens,
      ...expiry,
    ],
    plan: {
      changes,
      counters: expected.counters,
      marks: expected.marks,
      highWater: fold.highWater,
      metadata,
      beside,
      usage: tokens.length > 0 ? rightUsage(record.usage, fold, isTrimmed) : undefined,
      leftCalls: isRunning ? [] : sums.tools.left,
    },
  };
}

/** State that is too large is neither loaded nor compared. That of the user and the app is noted with these. */
function sizeNotes(record: SessionRecord, fold: LogCheck, excess: StateExcess | undefined): Note[] {
  if (excess) return excess.scope === 'session' ? [excessNote(excess, sessionKeyOf(record))] : [];
  if (fold.state) return [];
  return [{ code: 'STATE_NOT_COMPARED', detail: 'the events build more state than is loaded to compare it' }];
}

function metadataNotes(changes: readonly MetadataChange[]): Note[] {
  const detail = `${changes.length} entries of the metadata are not what the last events say`;
  return changes.length > 0 ? [{ code: 'METADATA_DIFFERS', detail }] : [];
}

/** Reads the log once, and examines its anchors and checkpoints. */
async function foldLog(
  env: CheckEnvironment,
  record: SessionRecord,
  fold: LogCheck,
  shared: readonly SharedWrites[],
): Promise<Beside> {
  const { storage, pace } = env;
  const beside: Beside = { notes: [], anchors: [], checkpoints: [], groups: new Set() };
  for await (const page of logPages(storage, record, { from: record.firstSeq, to: record.lastSeq }, pace)) {
    const anchors: number[] = [];
    const events: LoggedEvent[] = [];
    for (const stored of page) {
      const event = fold.add(stored);
      if (!event) continue;
      events.push(event);
      anchors.push(...listAnchorSeqs([event]));
      for (const writes of shared) writes.add(record, event, stored.appendedAt);
      if (stored.seq % CHECKPOINT_EVERY !== 0 || !fold.isWhole || !fold.state) continue;
      const wrong = await checkCheckpoint(env, record, fold, stored.seq);
      if (wrong.length > 0) beside.checkpoints.push(stored.seq);
      beside.notes.push(...wrong);
    }
    const missing = await missingAnchors(storage, record, anchors);
    beside.anchors.push(...missing);
    beside.notes.push(...anchorNotes(missing));
    for (const group of await wrongGroups(storage, record, events)) beside.groups.add(group);
  }
  fold.end();
  if (beside.groups.size > 0 && (await isUnchanged(storage, record))) {
    const detail = `the events of ${beside.groups.size} invocations are not found as such`;
    beside.notes.push({ code: 'INVOCATION_DIFFERS', detail });
  }
  return beside;
}

/** A log that was trimmed meanwhile lacks events in the index. */
async function isUnchanged(
  storage: SessionStorage,
  { firstSeq, incarnation, ...key }: SessionRecord,
): Promise<boolean> {
  const now = (await storage.read({ key: sessionKeyOf(key) }))?.record;
  if (now?.incarnation === incarnation && now.firstSeq !== firstSeq) throw new LogChangedError();
  return now?.incarnation === incarnation;
}

async function missingAnchors(
  storage: SessionStorage,
  record: SessionRecord,
  anchors: readonly number[],
): Promise<number[]> {
  const [from, to] = [anchors[0], anchors.at(-1)];
  if (from === undefined || to === undefined) return [];
  const window = { ranges: [{ from, to }], anchorsOnly: true };
  const found = new Set((await storage.read({ key: sessionKeyOf(record), window }))?.events.map(({ seq }) => seq));
  return anchors.filter((seq) => !found.has(seq));
}

function anchorNotes(missing: readonly number[]): Note[] {
  if (missing.length === 0) return [];
  const first = missing.slice(0, 10).join(', ');
  return [{ code: 'ANCHOR_MISSING', detail: `${missing.length} events are not found as anchors: ${first}` }];
}

async function checkCheckpoint(
  { storage }: CheckEnvironment,
  record: SessionRecord,
  fold: LogCheck,
  seq: number,
): Promise<Note[]> {
  const read = await storage.read({ key: sessionKeyOf(record), checkpointAt: seq });
  return read?.checkpoint?.seq === seq ? checkpointNotes(read.checkpoint, record, fold) : [];
}

/** Reads the events that are not rewound once more. */
async function sumsOf(
  { storage, pace }: CheckEnvironment,
  record: SessionRecord,
  path: ReturnType<typeof livePathOf>,
  viewFromSeq: number,
): Promise<LiveSums> {
  const sums = new LiveSums(viewFromSeq, record.firstSeq === 1);
  for (const range of path) {
    for await (const page of logPages(storage, record, range, pace)) {
      for (const stored of page) sums.add(loggedEvent(stored));
    }
  }
  return sums;
}

/** What never expires, although it should. */
export function expiryNotes(
  scope: 'session' | 'user' | 'app',
  expiresAt: number | undefined,
  lifetimes: Lifetimes | undefined,
): Note[] {
  const isWrong = lifetimes && expiresAt !== undefined && expiresAt >= NEVER && lifetimes[scope].ttlMs < NEVER;
  return isWrong ? [{ code: 'EXPIRY_MISSING', detail: EXPIRY_DETAILS[scope] }] : [];
}

const EXPIRY_DETAILS = {
  session: 'the session never expires',
  user: 'the state of the user never expires',
  app: 'the state of the app never expires',
};
