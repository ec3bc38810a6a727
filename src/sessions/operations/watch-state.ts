import { SessionNotFoundError } from '../domain/errors.js';
import type { LoggedEvent } from '../domain/event.js';
import { type SessionKey, sessionKeyOf } from '../domain/ids.js';
import { checkedFlag } from '../domain/paging.js';
import { retentionProblem } from '../domain/session-record.js';
import { type StateOperation, StatePatches } from '../domain/state-patch.js';
import type { SessionEnvironment } from '../session-environment.js';
import { LogPoints, fromStableLog } from './log-point.js';
import { SessionWatch, type WatchSessionRequest } from './watch-session.js';

/** An event of a watch. */
export type WatchedEvent = LoggedEvent & {
  /**
   * With `stateDeltas`: what the event changes in the state, as operations of JSON Patch (RFC 6902) on the object of all
   * keys. They turn the state before the event into the state after it.
   */
  readonly statePatch?: readonly StateOperation[];
};

/** A watch of events, with or without their changes of the state. */
export function watchSession(
  env: SessionEnvironment,
  request: WatchSessionRequest,
): AsyncIterableIterator<WatchedEvent> {
  return checkedFlag(request.stateDeltas, 'stateDeltas')
    ? new StateWatch(env, request)
    : new SessionWatch(env, request);
}

/** Adds to each event of a watch what it changes in the state. Keeps the names of keys, not their values. */
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
    // Reads the keys now, so that the names fit the start.
    this.#patches = env.tasks.track(this.#begin());
    this.#patches.catch(() => undefined);
  }

  next(): Promise<IteratorResult<WatchedEvent, undefined>> {
    const result = this.#turn.then(() => this.#next());
    // Holds no event while the next one is waited for.
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
    const missed = event.seq > this.#seq + 1 ? patches.patchTo(await this.#stateBefore(event.seq)) : [];
    this.#seq = event.seq;
    return { done: false, value: Object.assign(event, { statePatch: [...missed, ...patches.patchOf(event)] }) };
  }

  async #begin(): Promise<StatePatches> {
    const { record, seq } = await this.#watch.started;
    this.#seq = seq;
    return new StatePatches(Object.keys(await this.#stateOf(record.incarnation, seq, sessionKeyOf(record))));
  }

  /** Events in between were trimmed before they could be read. */
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
      const { fold } = await new LogPoints(this.#env.storage, read.record).pointAt(seq);
      return fold.toRecord();
    });
  }
}

function ignore(): void {}
