import { type StateChanges, filterChanges } from '../../state/state-changes.js';
import { isState, trackedValuesOf } from '../../state/state.js';
import { InvalidInputError } from './errors.js';
import { isSummary } from './event-inspection.js';
import { KnownStretches } from './known-stretches.js';
import type { LoggedEvent } from './event.js';
import type { Session } from './session.js';
import type { SessionRecord } from './session-record.js';
import { MAX_PULL_BACK } from './tool-pairs.js';
import { type ViewItem, isAnchorItem } from './view-item.js';
import { type ViewFilter, cutView, isFiltering, withAnchor } from './view.js';

/** The part of a conversation that a view was made of: without gaps, and the last anchor before it. */
export interface ViewSource {
  readonly items: readonly ViewItem[];
  readonly anchorBefore?: ViewItem | undefined;
}

/** A commit, as the object through which it was made learns of it. */
export interface LearnedCommit {
  readonly seq: number;
  readonly changes: StateChanges;
  readonly record: SessionRecord;
  /** The last event before it that was no summary, where that is known. */
  readonly previousTipSeq?: number | undefined;
}

/** What a session object knows beyond what it shows. */
interface Knowledge {
  readonly incarnation: string;
  source: ViewSource;
  /** The newest event that set a key, for keys set beyond `version`. */
  readonly keySeqs: Map<string, number>;
  /** The commits beyond `version` that were learned. */
  readonly heard: KnownStretches;
  /** The same, together with the summaries directly before them, which make nobody stale. */
  readonly ahead: KnownStretches;
  /** How far the log had come when the view was read; nothing up to there is new to it. */
  viewSeq: number;
  recordSeq: number;
}

const knowledgeOf = new WeakMap<Session, Knowledge>();

export function rememberLoading(session: Session, record: SessionRecord, source: ViewSource): void {
  knowledgeOf.set(session, {
    incarnation: record.incarnation,
    source,
    keySeqs: new Map(),
    heard: new KnownStretches(),
    ahead: new KnownStretches(),
    viewSeq: record.lastSeq,
    recordSeq: record.lastSeq,
  });
}

/** Which session of this id the object was loaded from; unknown for an object that was not. */
export function incarnationOf(session: object): string | undefined {
  return knowledgeOf.get(session as Session)?.incarnation;
}

/** Refuses an object that could not be brought up to date once the append is done. */
export function assertTeachable(session: Session): void {
  if (!isState(session.state)) {
    throw new InvalidInputError('must be the one that the session came with; change its keys instead', 'session.state');
  }
  if (!Array.isArray(session.events)) throw new InvalidInputError('must be an array', 'session.events');
  if (Object.isFrozen(session) || Object.isFrozen(session.events)) {
    throw new InvalidInputError('must not be frozen; give { id, appName, userId } instead', 'session');
  }
}

export function learnTemp(session: Session, temp: StateChanges): void {
  trackedValuesOf(session.state).learn(temp);
}

/** Brings the object up to date with a commit made through it, in whatever order commits come back. */
export function learnCommit(session: Session, commit: LearnedCommit): void {
  const known = knowledgeOf.get(session);
  if (!known || !isNews(session, commit.seq)) return;
  learnState(session, known, commit);
  learnNumbers(session, known, commit.record);
  known.heard.add(commit.seq - 1, commit.seq);
  known.ahead.add(commit.previousTipSeq ?? commit.seq - 1, commit.seq);
  advanceVersion(session, known);
}

/** Whether the object has not heard of the event yet. */
export function isNews(session: Session, seq: number): boolean {
  return seq > session.version && !knowledgeOf.get(session)?.heard.has(seq);
}

/** Adds a new event to what the object shows, at its place in the log, and filters again. */
export function learnEvent(session: Session, item: ViewItem, filter: ViewFilter, now: number): void {
  const known = knowledgeOf.get(session);
  if (!known || item.event.seq <= known.viewSeq) return;
  const isBefore = (event: LoggedEvent): boolean => event.seq < item.event.seq || isSummary(event);
  if (!isFiltering(filter)) {
    // In place, so that an append costs the same however long the conversation is.
    session.events.splice(session.events.findLastIndex(isBefore) + 1, 0, item.event);
    return;
  }
  const { items, anchorBefore } = known.source;
  const position = items.findLastIndex(({ event }) => isBefore(event)) + 1;
  const heard = items.toSpliced(position, 0, item);
  const cut = cutView(heard, filter, now);
  session.events = withAnchor(cut, anchorBefore).map(({ event }) => event);
  // A later cut may be pulled back to a tool call, with all that lies between, so more is kept than is shown.
  const gone = cut.before.slice(0, -MAX_PULL_BACK);
  known.source = { items: heard.slice(gone.length), anchorBefore: gone.findLast(isAnchorItem) ?? anchorBefore };
}

/** Shows a view that was read anew, after a summary or a rewind changed what there is to see. */
export function showView(
  session: Session,
  view: readonly ViewItem[],
  source: ViewSource,
  { incarnation, lastSeq }: SessionRecord,
): void {
  const known = knowledgeOf.get(session);
  if (known?.incarnation !== incarnation || lastSeq < known.viewSeq) return;
  known.source = source;
  known.viewSeq = lastSeq;
  session.events = view.map(({ event }) => event);
}

function learnState(session: Session, { keySeqs }: Knowledge, { changes, seq }: LearnedCommit): void {
  const newest = filterChanges(changes, (key) => (keySeqs.get(key) ?? 0) < seq);
  trackedValuesOf(session.state).learn(newest);
  for (const key of [...Object.keys(newest.stateDelta), ...newest.stateRemovals]) keySeqs.set(key, seq);
}

function learnNumbers(session: Session, known: Knowledge, record: SessionRecord): void {
  if (record.lastSeq <= known.recordSeq) return;
  known.recordSeq = record.lastSeq;
  session.conversationCount = record.counters.turns;
  session.lastUpdateTime = record.lastUpdateTime;
}

/** A gap of nothing but summaries hides nothing from a writer, so the version moves across it. */
function advanceVersion(session: Session, { ahead, heard, keySeqs }: Knowledge): void {
  session.version = ahead.reachFrom(session.version);
  heard.forgetUpTo(session.version);
  for (const [key, seq] of keySeqs) if (seq <= session.version) keySeqs.delete(key);
}
