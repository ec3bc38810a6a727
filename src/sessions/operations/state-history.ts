import { isTempKey } from '../../state/scopes.js';
import { ByteBudget, jsonBytes } from '../domain/stored/byte-budget.js';
import { InvalidInputError, SessionNotFoundError } from '../domain/errors/errors.js';
import type { LoggedEvent } from '../domain/event/event.js';
import { type SessionKey, checkedSessionKey, sessionKeyOf } from '../domain/values/ids.js';
import { optionalCount, optionalFlag } from '../domain/values/input-checks.js';
import { checkedLimit, StateChangeCursor } from '../domain/values/paging.js';
import { type SessionRecord, retentionProblem } from '../domain/stored/session-record.js';
import { type StateKeyChange, type StateOperation, changesBy, StatePatches } from '../domain/history/state-history.js';
import { loggedEvent } from '../domain/stored/stored-json.js';
import { assertStateKey } from '../domain/write/submitted-state.js';
import type { SessionEnvironment } from '../session-environment.js';
import { otherSessionError } from './incarnation-reads.js';
import { fromStableLog, LogPoints } from './read-log.js';
import { type WatchSessionRequest, SessionWatch } from './watch-session.js';

/** The session, and the moment. */
export interface StateAtRequest extends SessionKey {
  /** The last event of that moment; 0 is the initial state. */
  readonly seq: number;
  /** The last event that the caller has seen: an answer of `readsOf` has it, also if it comes from a replica. Default: none. */
  readonly minSeq?: number | undefined;
}

/** The state of a session at a moment. */
export interface StateAtMoment {
  readonly seq: number;
  /** The session's own state after the event. */
  readonly state: Record<string, unknown>;
  /**
   * Keys of `user:` and `app:` with the values that events of this session gave them. Writes by others are not in the log of
   * the session, and those of trimmed events may be missing.
   */
  readonly shared: Record<string, unknown>;
}

/** Computes the state from the last checkpoint and the events after it. */
export async function stateAt(env: SessionEnvironment, request: StateAtRequest): Promise<StateAtMoment> {
  const key = checkedSessionKey(request);
  const seq = optionalCount(request.seq, 'seq');
  if (seq === undefined) throw new InvalidInputError('must be the number of an event, or 0', 'seq');
  return fromStableLog(async () => {
    const read = await env.storage.read({ key });
    if (!read) throw new SessionNotFoundError(key.sessionId);
    const problem = retentionProblem(read.record, seq, 'seq');
    if (problem) throw problem;
    const { fold } = await new LogPoints(env.storage, read.record, env.stateLimits).pointAt(seq);
    return { seq, state: fold.toRecord(), shared: fold.toShared() };
  });
}

/** The changes to list. */
export interface StateChangesRequest extends SessionKey {
  /** Only changes by events after this one. */
  readonly afterSeq?: number | undefined;
  /** Only changes of this key, with its prefix. */
  readonly key?: string | undefined;
  /** Changes per page. Default 100, at most 1,000. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** The last event that the caller has seen: an answer of `readsOf` has it, also if it comes from a replica. Default: none. */
  readonly minSeq?: number | undefined;
}

/** A page of state changes. */
export interface StateChangePage {
  /** In the order of the log. May be empty although there is a next page. */
  readonly changes: StateKeyChange[];
  /** First retained event. Changes by earlier events are unknown. */
  readonly firstSeq: number;
  /** Last event of the whole log. */
  readonly lastSeq: number;
  /** For the next page. Missing on the last page. */
  readonly nextCursor?: string;
}

/** Events per page, so that a page of a rare key does not read a whole log. */
const MOST_EVENTS = 1_000;

/** Where a page begins. */
interface PageStart {
  readonly seq: number;
  /** How many changes of that event were on the previous page. */
  readonly skip: number;
}

interface PageLimits {
  readonly key: string | undefined;
  readonly limit: number;
  readonly maxBytes: number;
}

/** Reads a page of changes. It is shorter if its values are large. */
export async function stateChanges(env: SessionEnvironment, request: StateChangesRequest): Promise<StateChangePage> {
  const session = checkedSessionKey(request);
  const after = optionalCount(request.afterSeq, 'afterSeq') ?? 0;
  const limits = {
    key: checkedKey(request.key),
    limit: checkedLimit(request.limit),
    maxBytes: env.limits.maxPageBytes,
  };
  const cursor = StateChangeCursor.parse(request.cursor);
  return fromStableLog(async () => {
    const read = await env.storage.read({ key: session });
    if (!read) throw new SessionNotFoundError(session.sessionId);
    const { record } = read;
    if (cursor && cursor.incarnation !== record.incarnation) throw otherSessionError(session);
    const log = new LogPoints(env.storage, record, env.stateLimits);
    const { changes, next } = await readPage(log, record, findPageStart(record, after, cursor), limits);
    const { firstSeq, lastSeq, incarnation } = record;
    const nextCursor = next && new StateChangeCursor(incarnation, next.seq, next.skip).toString();
    return { changes, firstSeq, lastSeq, ...(nextCursor && { nextCursor }) };
  });
}

function checkedKey(key: string | null | undefined): string | undefined {
  if (key === undefined || key === null) return undefined;
  assertStateKey(key, 'key');
  if (isTempKey(key)) throw new InvalidInputError('a temp: key is never stored, so it has no changes', 'key');
  return key;
}

function findPageStart({ firstSeq }: SessionRecord, after: number, cursor: StateChangeCursor | undefined): PageStart {
  const wanted = cursor && cursor.seq > after ? cursor : { seq: after + 1, skip: 0 };
  return wanted.seq < firstSeq ? { seq: firstSeq, skip: 0 } : wanted;
}

async function readPage(
  log: LogPoints,
  { lastSeq }: SessionRecord,
  start: PageStart,
  { key, limit, maxBytes }: PageLimits,
): Promise<{ readonly changes: StateKeyChange[]; readonly next?: PageStart }> {
  const changes: StateKeyChange[] = [];
  if (start.seq > lastSeq || limit === 0) return { changes };
  const { fold } = await log.pointAt(start.seq - 1);
  const budget = new ByteBudget(maxBytes);
  const to = Math.min(lastSeq, start.seq + MOST_EVENTS - 1);
  for await (const stored of log.read({ from: start.seq, to })) {
    const event = loggedEvent(stored);
    const { seq } = event;
    const found = changesBy(event, fold).filter((change) => key === undefined || change.key === key);
    for (let index = seq === start.seq ? start.skip : 0; index < found.length; index++) {
      const change = found[index] as StateKeyChange;
      if (changes.length === limit || !budget.take(jsonBytes(change))) return { changes, next: { seq, skip: index } };
      changes.push(change);
    }
    fold.add(event);
  }
  return to < lastSeq ? { changes, next: { seq: to + 1, skip: 0 } } : { changes };
}

/** An event of a watch. */
export type WatchedEvent = LoggedEvent & {
  /**
   * With `stateDeltas`: what the event changes in the state, as operations of JSON Patch (RFC 6902) on the object of all
   * keys. They turn the state before the event into the state after it.
   */
  readonly statePatch?: readonly StateOperation[];
  /** With `partials`: where to go on after this event. */
  readonly position?: string;
  /** Of a partial event: how many characters (UTF-16 code units) of its message come before; 0 begins the message anew. */
  readonly offset?: number;
};

/** Watches events, with or without state patches. */
export function watchSession(
  env: SessionEnvironment,
  request: WatchSessionRequest,
): AsyncIterableIterator<WatchedEvent> {
  return optionalFlag(request.stateDeltas, 'stateDeltas')
    ? new StateWatch(env, request)
    : new SessionWatch(env, request);
}

/** Adds a state patch to each event of a watch. Keeps the names of keys in memory, not their values. */
export class StateWatch implements AsyncIterableIterator<WatchedEvent> {
  readonly #env: SessionEnvironment;
  readonly #watch: SessionWatch;
  readonly #patches: Promise<StatePatches>;
  /** Events are patched one after the other. */
  #turn: Promise<void> = Promise.resolve();
  /** The last event that was handed out. */
  #seq = 0;

  constructor(env: SessionEnvironment, request: WatchSessionRequest) {
    this.#env = env;
    this.#watch = new SessionWatch(env, request);
    // Reads the keys before the first event, so that they match the start.
    this.#patches = env.tasks.track(this.#begin());
    this.#patches.catch(() => undefined);
  }

  next(): Promise<IteratorResult<WatchedEvent, undefined>> {
    const result = this.#turn.then(() => this.#next());
    // Keeps no event in memory while it waits for the next one.
    this.#turn = result.then(ignore, ignore);
    return result;
  }

  async return(): Promise<IteratorResult<WatchedEvent, undefined>> {
    await this.#watch.return();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #next(): Promise<IteratorResult<WatchedEvent, undefined>> {
    const patches = await this.#patches;
    const { done, value: event } = await this.#watch.next();
    if (done || !event) return { done: true, value: undefined };
    if (event.partial === true) return { done: false, value: event };
    const missed = event.seq > this.#seq + 1 ? patches.patchTo(await this.#stateBefore(event.seq)) : [];
    this.#seq = event.seq;
    return { done: false, value: Object.assign(event, { statePatch: [...missed, ...patches.patchOf(event)] }) };
  }

  async #begin(): Promise<StatePatches> {
    const { record, seq } = await this.#watch.started;
    this.#seq = seq;
    return new StatePatches(Object.keys(await this.#stateOf(record.incarnation, seq, sessionKeyOf(record))));
  }

  /** Skips events that were trimmed before they could be read. */
  async #stateBefore(seq: number): Promise<Record<string, unknown>> {
    const { record } = await this.#watch.started;
    return this.#env.tasks.track(this.#stateOf(record.incarnation, seq - 1, sessionKeyOf(record)));
  }

  #stateOf(incarnation: string, seq: number, key: SessionKey): Promise<Record<string, unknown>> {
    return fromStableLog(async () => {
      const read = await this.#env.storage.read({ key });
      if (read?.record.incarnation !== incarnation) throw new SessionNotFoundError(key.sessionId);
      const problem = retentionProblem(read.record, seq, 'afterSeq');
      if (problem) throw problem;
      const { fold } = await new LogPoints(this.#env.storage, read.record, this.#env.stateLimits).pointAt(seq);
      return fold.toRecord();
    });
  }
}

function ignore(): void {}
