import { NO_CHANGES, type StateChanges, filterChanges } from '../../state/state-changes.js';
import { isState, trackedValuesOf } from '../../state/state.js';
import { InvalidInputError } from './errors.js';
import { isSummary } from './event-inspection.js';
import { LoadedView, type ViewSource, isCutting } from './loaded-view.js';
import type { MetadataChange, MetadataText } from './metadata-entries.js';
import { SeqSet } from './seq-ranges.js';
import type { SessionRecord } from './session-record.js';
import { type Session, sessionEventsOf } from './session.js';
import { TrackedMetadata } from './session-metadata.js';
import type { GetSessionConfig, ViewItem } from './view-item.js';
import type { ViewFilter } from './view.js';

/** A commit to apply to the session object through which it was made. */
export interface AppliedCommit {
  readonly seq: number;
  readonly changes: StateChanges;
  /** Default: none. */
  readonly metadata?: readonly MetadataChange[] | undefined;
  readonly record: SessionRecord;
  /** The last event before it that was not a summary, if known. */
  readonly previousTipSeq?: number | undefined;
}

/** Internal data of a session object. */
interface TrackedSession {
  readonly incarnation: string;
  view: LoadedView;
  /** The newest event that set each key, for keys set after `version`. */
  readonly keySeqs: Map<string, number>;
  readonly metadata: TrackedMetadata;
  /** The applied commits after `version`. */
  readonly appliedSeqs: SeqSet;
  /** The same, with the summaries directly before them, which make no writer stale. */
  readonly coveredSeqs: SeqSet;
  /** Last event of the log when the view was read. */
  viewSeq: number;
  recordSeq: number;
}

const trackedSessions = new WeakMap<Session, TrackedSession>();

export function trackSession(
  session: Session,
  record: SessionRecord,
  source: ViewSource,
  metadata: MetadataText = '',
): void {
  trackedSessions.set(session, {
    incarnation: record.incarnation,
    view: new LoadedView(source),
    keySeqs: new Map(),
    metadata: new TrackedMetadata(metadata),
    appliedSeqs: new SeqSet(),
    coveredSeqs: new SeqSet(),
    viewSeq: record.lastSeq,
    recordSeq: record.lastSeq,
  });
}

/** The incarnation that the object was loaded from; undefined for other objects. */
export function incarnationOf(session: object): string | undefined {
  return trackedSessions.get(session as Session)?.incarnation;
}

/** Refuses an object that cannot be updated after the append. */
export function assertUpdatable(session: Session): void {
  if (!isState(session.state)) {
    throw new InvalidInputError(
      'must be the original state object; change its keys instead of replacing it',
      'session.state',
    );
  }
  const seen = sessionEventsOf(session).seen;
  if (seen !== undefined && !Array.isArray(seen)) throw new InvalidInputError('must be an array', 'session.events');
  if (Object.isFrozen(session) || (seen && Object.isFrozen(seen))) {
    throw new InvalidInputError('must not be frozen; give { id, appName, userId } instead', 'session');
  }
}

export function applyTempState(session: Session, temp: StateChanges): void {
  if (temp !== NO_CHANGES) trackedValuesOf(session.state).applyStored(temp);
}

/** Updates the object after a commit made through it. Commits may complete in any order. */
export function applyCommit(session: Session, commit: AppliedCommit): void {
  const known = trackedSessions.get(session);
  if (!known || !isUnseen(session, commit.seq)) return;
  applyMetadata(session, known, commit);
  applyRecord(session, known, commit.record);
  if (isNext(session, known, commit)) {
    trackedValuesOf(session.state).applyStored(commit.changes);
    session.version = commit.seq;
    known.metadata.forgetSeqsUpTo(session.version);
    return;
  }
  applyState(session, known, commit);
  known.appliedSeqs.add(commit.seq - 1, commit.seq);
  known.coveredSeqs.add(commit.previousTipSeq ?? commit.seq - 1, commit.seq);
  advanceVersion(session, known);
}

/** Whether the object knows everything before the commit, and nothing after it. Most appends are like that. */
function isNext(
  session: Session,
  { appliedSeqs, coveredSeqs }: TrackedSession,
  { seq, previousTipSeq = seq - 1 }: AppliedCommit,
): boolean {
  return appliedSeqs.isEmpty && coveredSeqs.isEmpty && previousTipSeq <= session.version;
}

/** Whether the event is not applied to the object yet. */
export function isUnseen(session: Session, seq: number): boolean {
  return seq > session.version && !trackedSessions.get(session)?.appliedSeqs.has(seq);
}

/**
 * Adds new events to the object's view, at their positions in the log, and filters again.
 *
 * @returns the loaded view, if more has to be read for it
 */
export function applyEvents(
  session: Session,
  items: readonly ViewItem[],
  filter: ViewFilter,
  now: number,
): LoadedView | undefined {
  const known = trackedSessions.get(session);
  if (!known) return undefined;
  const newer = items.filter(({ seq }) => seq > known.viewSeq);
  if (newer.length === 0) return undefined;
  if (isCutting(known.view, filter)) {
    for (const item of newer) known.view.insert(item, now);
    return refreshEvents(session, known.view, filter);
  }
  for (const item of newer) if (known.view.includes(item)) sessionEventsOf(session).add(item);
  return undefined;
}

/** Updates `session.events` from the loaded view, unless the object has another view by now. */
export function refreshEvents(session: Session, view: LoadedView, filter: ViewFilter): LoadedView | undefined {
  if (trackedSessions.get(session)?.view !== view) return undefined;
  const { view: items, lacks } = view.cut(filter);
  sessionEventsOf(session).replace(items);
  return lacks && view;
}

/** The config with which the object was read. */
export function configOf(session: Session): GetSessionConfig {
  return trackedSessions.get(session)?.view.config ?? {};
}

/** Replaces the view by one that was read again after a summary or a rewind. */
export function replaceView(
  session: Session,
  view: readonly ViewItem[],
  source: ViewSource,
  { incarnation, lastSeq }: SessionRecord,
  filter: ViewFilter,
): void {
  const known = trackedSessions.get(session);
  if (known?.incarnation !== incarnation || lastSeq < known.viewSeq) return;
  // Events appended through the object since the read.
  const newer = known.view.itemsAfter(lastSeq);
  const newerEvents = session.events.filter((event) => event.seq > lastSeq && !isSummary(event));
  const { now } = known.view;
  known.view = new LoadedView(source);
  known.viewSeq = lastSeq;
  const events = sessionEventsOf(session);
  events.replace(view);
  if (isCutting(known.view, filter)) applyEvents(session, newer, filter, now);
  else for (const event of newerEvents) events.add({ seq: event.seq, event });
}

function applyState(session: Session, { keySeqs }: TrackedSession, { changes, seq }: AppliedCommit): void {
  const newest = filterChanges(changes, (key) => (keySeqs.get(key) ?? 0) < seq);
  trackedValuesOf(session.state).applyStored(newest);
  for (const key of [...Object.keys(newest.stateDelta), ...newest.stateRemovals]) keySeqs.set(key, seq);
}

function applyMetadata(
  session: Session,
  { metadata }: TrackedSession,
  { metadata: changes = [], seq }: AppliedCommit,
): void {
  if (changes.length === 0) return;
  metadata.apply(changes, seq);
  session.metadata = metadata.current;
}

function applyRecord(session: Session, known: TrackedSession, record: SessionRecord): void {
  if (record.lastSeq <= known.recordSeq) return;
  known.recordSeq = record.lastSeq;
  session.conversationCount = record.counters.turns;
  session.lastUpdateTime = record.lastUpdateTime;
}

/** The version skips gaps that consist of summaries, since they hide nothing from a writer. */
function advanceVersion(session: Session, { coveredSeqs, appliedSeqs, keySeqs, metadata }: TrackedSession): void {
  session.version = coveredSeqs.endOfRunFrom(session.version);
  appliedSeqs.removeUpTo(session.version);
  for (const [key, seq] of keySeqs) if (seq <= session.version) keySeqs.delete(key);
  metadata.forgetSeqsUpTo(session.version);
}
