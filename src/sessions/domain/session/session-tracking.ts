import { NO_CHANGES, type StateChanges, filterChanges } from '../../../state/state-changes.js';
import { isState, trackedValuesOf } from '../../../state/state.js';
import { InvalidInputError } from '../errors/errors.js';
import { isSummary } from '../event/event-inspection.js';
import { LoadedView, type ViewSource, isCutting } from '../view/loaded-view.js';
import type { MetadataChange, MetadataText } from '../metadata/metadata-entries.js';
import { SeqSet } from '../values/seq-ranges.js';
import type { SessionRecord } from '../stored/session-record.js';
import { type Session, noteTracking, sessionEventsOf, trackingOf } from './session.js';
import { TrackedMetadata } from './tracked-metadata.js';
import type { ViewItem } from '../view/view-item.js';
import type { GetSessionConfig } from '../view/view-config.js';
import type { ViewFilter } from '../view/cut-view.js';

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

/** A view, or what makes it for the first append through its object. */
export type LazyViewSource = ViewSource | (() => ViewSource);

/** Internal data of a session object. Most of it is made for the first append through the object. */
class TrackedSession {
  #view: LoadedView | undefined;
  #metadata: TrackedMetadata | undefined;
  #keySeqs: Map<string, number> | undefined;
  #appliedSeqs: SeqSet | undefined;
  #coveredSeqs: SeqSet | undefined;
  readonly incarnation: string;
  /** Last event of the log when the view was read. */
  viewSeq: number;
  recordSeq: number;

  constructor(
    { incarnation, lastSeq }: SessionRecord,
    private readonly source: LazyViewSource,
    private readonly metadataText: MetadataText,
  ) {
    this.incarnation = incarnation;
    this.viewSeq = lastSeq;
    this.recordSeq = lastSeq;
  }

  get view(): LoadedView {
    return (this.#view ??= new LoadedView(typeof this.source === 'function' ? this.source() : this.source));
  }

  set view(view: LoadedView) {
    this.#view = view;
  }

  get metadata(): TrackedMetadata {
    return (this.#metadata ??= new TrackedMetadata(this.metadataText));
  }

  /** The newest event that set each key, for keys set after `version`. */
  get keySeqs(): Map<string, number> {
    return (this.#keySeqs ??= new Map());
  }

  /** The applied commits after `version`. */
  get appliedSeqs(): SeqSet {
    return (this.#appliedSeqs ??= new SeqSet());
  }

  /** The same, with the summaries directly before them, which make no writer stale. */
  get coveredSeqs(): SeqSet {
    return (this.#coveredSeqs ??= new SeqSet());
  }
}

export function trackSession(
  session: Session,
  record: SessionRecord,
  source: LazyViewSource,
  metadata: MetadataText = '',
): void {
  noteTracking(session, new TrackedSession(record, source, metadata));
}

function trackedOf(session: object): TrackedSession | undefined {
  const tracking = trackingOf(session);
  return tracking instanceof TrackedSession ? tracking : undefined;
}

/** The incarnation that the object was loaded from; undefined for other objects. */
export function incarnationOf(session: object): string | undefined {
  return trackedOf(session)?.incarnation;
}

/** Refuses an object that cannot be updated after the append. */
export function assertUpdatable(session: Session): void {
  const problem = findTrackingProblem(session);
  if (problem) throw problem;
}

/** Whether appends can go through this object. Its owner may have replaced what it is made of. */
export function isUpdatable(session: Session): boolean {
  return findTrackingProblem(session) === undefined;
}

function findTrackingProblem(session: Session): InvalidInputError | undefined {
  if (!isState(session.state)) {
    return new InvalidInputError(
      'must be the original state object; change its keys instead of replacing it',
      'session.state',
    );
  }
  const seen = sessionEventsOf(session).seen;
  if (seen !== undefined && !Array.isArray(seen)) return new InvalidInputError('must be an array', 'session.events');
  if (Object.isFrozen(session) || (seen && Object.isFrozen(seen))) {
    return new InvalidInputError('must not be frozen; give { id, appName, userId } instead', 'session');
  }
  return undefined;
}

export function applyTempState(session: Session, temp: StateChanges): void {
  if (temp !== NO_CHANGES) trackedValuesOf(session.state).applyStored(temp);
}

/** Updates the object after a commit made through it. Commits may complete in any order. */
export function applyCommit(session: Session, commit: AppliedCommit): void {
  const known = trackedOf(session);
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
  return seq > session.version && !trackedOf(session)?.appliedSeqs.has(seq);
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
  const known = trackedOf(session);
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
  if (trackedOf(session)?.view !== view) return undefined;
  const { view: items, lacks } = view.cut(filter);
  sessionEventsOf(session).replace(items);
  return lacks && view;
}

/** The config with which the object was read. */
export function getViewConfig(session: Session): GetSessionConfig {
  return trackedOf(session)?.view.config ?? {};
}

/** Replaces the view by one that was read again after a summary or a rewind. */
export function replaceView(
  session: Session,
  view: readonly ViewItem[],
  source: ViewSource,
  { incarnation, lastSeq }: SessionRecord,
  filter: ViewFilter,
): void {
  const known = trackedOf(session);
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
