import type { Entry, GivenEvent } from './entries.js';
import { forkOf } from './forks.js';
import type { SessionMetadataInput } from '../../../src/index.js';
import { type Explained, explanationOf } from './explanations.js';
import type { Filter } from './filter.js';
import { metadataFrom } from './metadata.js';
import { ModelObject } from './model-object.js';
import type { ModelKey, ModelSession } from './model-session.js';
import { ModelStore, textOf } from './model-store.js';
import type { Narrowing } from './narrowing.js';
import { stableUntil } from './requests.js';
import { Refusal } from './refusal.js';
import type { ModelSettings } from './settings.js';
import { type ModelTurn, type ModelTurnPart, type ModelTurnRequest, assertTurn, begun } from './turns.js';
import { type Changes, type StateMap, changesOf, inScope, isEmpty, only, withoutPrefix } from './state.js';
import { assertChanges, submissionOf } from './submission.js';

export interface ModelAppend {
  readonly target: ModelObject | ModelKey;
  readonly given: GivenEvent;
  readonly expectedVersion?: number | undefined;
  readonly turn?: ModelTurnPart | undefined;
  /** The id for an event without one. */
  readonly assignedId: string;
}

export interface ModelBatch extends Pick<ModelAppend, 'target' | 'expectedVersion' | 'turn'> {
  /** Without partial events. */
  readonly given: readonly GivenEvent[];
  readonly assignedIds: readonly string[];
}

export interface AppendedEntries {
  readonly entries: readonly Entry[];
  readonly duplicate: boolean;
}

/** The contract, implemented simply and slowly: each result is computed from the whole log. */
export class Model {
  constructor(
    readonly settings: ModelSettings,
    private readonly clock: { now(): number },
    readonly store: ModelStore = new ModelStore(settings.ttl, clock),
  ) {}

  create(
    key: ModelKey,
    state: Record<string, unknown> = {},
    metadata?: SessionMetadataInput,
    turnsOnly?: boolean,
  ): ModelObject {
    assertChanges(state);
    if (this.store.live(key)) throw new Refusal('SESSION_EXISTS');
    const initial = changesOf({ stateDelta: state });
    return this.open(this.store.create(key, initial, metadataFrom(metadata), { turnsOnly }));
  }

  /** Begins a turn, or returns the one of the same request. */
  beginTurn(key: ModelKey, request: ModelTurnRequest, assignedToken: string): ModelTurn {
    const session = this.#targetOf(key);
    return (session.turn = begun(session.turn, request, assignedToken, this.clock.now()));
  }

  renewTurn(key: ModelKey, token: string, ttlMs: number): ModelTurn {
    const session = this.#targetOf(key);
    const now = this.clock.now();
    const turn = session.turnAt(now);
    if (turn?.token !== token) throw new Refusal('TURN_LOST');
    return (session.turn = { ...turn, expiresAt: now + ttlMs });
  }

  endTurn(key: ModelKey, token: string): void {
    const session = this.#targetOf(key);
    const turn = session.turnAt(this.clock.now());
    if (turn?.token === token) session.turn = { ...turn, expiresAt: 0 };
  }

  getTurn(key: ModelKey): ModelTurn | undefined {
    return this.#targetOf(key).turnAt(this.clock.now());
  }

  get(key: ModelKey, narrowing: Narrowing = {}): ModelObject | undefined {
    const session = this.store.live(key);
    if (!session) return undefined;
    const object = this.load(session, narrowing);
    if (this.settings.ttl.refreshOnRead) this.store.renew(session);
    return object;
  }

  /** Why each event of the log is in the view of a reader, or not. @param shown the view */
  explain(key: ModelKey, narrowing: Narrowing, shown: readonly Entry[]): Explained[] | undefined {
    const session = this.store.live(key);
    if (!session) return undefined;
    return explanationOf(session.log, { whole: session.view(), shown }, this.readFilter(), narrowing, this.clock.now());
  }

  /** With which event the beginning ends that a view shares with what a model was given last. */
  stableUntil(key: ModelKey, shown: readonly Entry[]): number | undefined {
    return stableUntil(this.store.live(key)?.log ?? [], shown);
  }

  fork(key: ModelKey, newKey: ModelKey, atSeq?: number): ModelObject {
    const source = this.store.live(key);
    if (!source) throw new Refusal('SESSION_NOT_FOUND');
    const moment = atSeq ?? source.lastSeq;
    if (moment > source.lastSeq) throw new Refusal('INVALID_INPUT');
    if (this.store.live(newKey)) throw new Refusal('SESSION_EXISTS');
    const { initial, log } = forkOf(source.initial, source.log.slice(0, moment));
    const { turnsOnly } = source;
    const fork = this.store.create(newKey, initial, new Map(source.metadata), { log, turnsOnly });
    return this.load(fork);
  }

  stateAt(key: ModelKey, seq: number): StateMap {
    const session = this.store.live(key);
    if (!session) throw new Refusal('SESSION_NOT_FOUND');
    if (seq > session.lastSeq) throw new Refusal('INVALID_INPUT');
    return session.state(seq);
  }

  append({ given, assignedId, ...append }: ModelAppend): Entry & { duplicate: boolean } {
    const { entries, duplicate } = this.appendAll({ ...append, given: [given], assignedIds: [assignedId] });
    const [entry] = entries;
    if (!entry) throw new Error('The model appended no event');
    return { ...entry, duplicate };
  }

  /** All events or none. */
  appendAll({ target, given, expectedVersion, turn, assignedIds }: ModelBatch): AppendedEntries {
    const submissions = given.map((event, index) => submissionOf(event, assignedIds[index] ?? `none ${index}`));
    assertBatch(submissions.map(({ event }) => event));
    if (submissions.length === 0) return { entries: [], duplicate: false };
    const session = this.#targetOf(target);
    const now = this.clock.now();
    const originals = submissions.map(({ event }) => session.log.find((entry) => entry.event.id === event.id));
    const isKnown = originals.some((original) => original !== undefined);
    const tipBefore = session.tipSeq;
    if (isKnown && !submissions.every(({ event, submitted }, index) => isSame(originals[index], event, submitted))) {
      throw new Refusal('EVENT_CONFLICT');
    }
    if (!isKnown) {
      const isSummary = submissions.some(({ event }) => event.actions?.compaction);
      assertTurn(session, turn, isSummary, now);
      const isStale =
        expectedVersion !== undefined && (expectedVersion < tipBefore || expectedVersion > session.lastSeq);
      if (isStale) throw new Refusal('STALE_SESSION');
      for (const { event } of submissions) assertPlaces(event, session.lastSeq);
      // A rewind takes away what the turn of another writer builds on.
      const isRewind = submissions.some(({ event }) => event.actions?.rewind);
      if ((turn ? turn.ends : isRewind) && session.turn) session.turn = { ...session.turn, expiresAt: 0 };
    }
    const entries = submissions.map(({ event, submitted }, index) => {
      const original = originals[index];
      if (original) return original;
      const timestamp = event.timestamp ?? now;
      const entry = { seq: session.lastSeq + 1, event: { ...event, timestamp }, submitted, appendedAt: now };
      this.store.commit(session, entry);
      return entry;
    });
    if (target instanceof ModelObject) {
      for (const [index, entry] of entries.entries()) {
        const isNew = target.isNew(entry);
        const before = index === 0 ? tipBefore : entry.seq - 1;
        target.learn(entry, only(changesOf(given[index]?.actions), 'temp'), isKnown ? undefined : before);
        if (isNew) target.show(entry, this.appendFilter(), now);
        // After a retry, ages are computed with the time of the first attempt.
        if (isNew && isKnown && this.settings.eventTtlSeconds > 0) target.isCertain = false;
      }
    }
    return { entries, duplicate: isKnown };
  }

  /** Saves the unsaved changes of an object, if there are any. */
  update(
    object: ModelObject,
    assignedId: string,
    { expectedVersion, turn }: Pick<ModelAppend, 'expectedVersion' | 'turn'> = {},
  ): Entry | undefined {
    const { set, removed } = object.pending();
    if (isEmpty({ set, removed })) return undefined;
    const actions = { stateDelta: Object.fromEntries(set), stateRemovals: [...removed] };
    const given = { author: 'system', actions };
    const entry = this.append({ target: object, given, expectedVersion, turn, assignedId });
    object.clearPending();
    return entry;
  }

  /** Reads the state of a user or an app, after applying the changes if there are any. */
  sharedState([appName = '', userId]: readonly string[], given: Changes): StateMap {
    const scope = userId === undefined ? 'app' : 'user';
    const [states, owner] = userId === undefined ? [this.store.apps, [appName]] : [this.store.users, [appName, userId]];
    const changes = inScope(given, scope);
    assertChanges(Object.fromEntries(changes.set), changes.removed);
    const now = this.clock.now();
    if (!isEmpty(changes)) states.write(textOf(owner), withoutPrefix(changes), now);
    else if (this.settings.ttl.refreshOnRead) states.renew(textOf(owner), now);
    return states.read(textOf(owner), now);
  }

  /** An object without events, for a new session or a list. */
  open(session: ModelSession): ModelObject {
    return new ModelObject(session, this.store.stateOf(session), []);
  }

  load(session: ModelSession, narrowing: Narrowing = {}): ModelObject {
    const object = this.open(session);
    const isForOneRead = this.readFilter().newest !== this.appendFilter().newest;
    object.load(this.readFilter(), narrowing, this.clock.now(), isForOneRead);
    return object;
  }

  appendFilter(): Filter {
    return { newest: this.settings.maxEvents, maxAgeMs: this.settings.eventTtlSeconds * 1000 };
  }

  readFilter(): Filter {
    const limits = [this.settings.maxEvents, this.settings.numRecentEvents].filter((limit) => limit > 0);
    return { ...this.appendFilter(), newest: limits.length > 0 ? Math.min(...limits) : 0 };
  }

  #targetOf(target: ModelObject | ModelKey): ModelSession {
    const session = this.store.live(target instanceof ModelObject ? target.session.key : target);
    if (!session || (target instanceof ModelObject && target.session !== session)) {
      throw new Refusal('SESSION_NOT_FOUND');
    }
    return session;
  }
}

/** Ids must differ, a summary cannot be in a batch, and a rewind only at its beginning. */
function assertBatch(events: readonly (GivenEvent & { id: string })[]): void {
  if (events.length < 2) return;
  const ids = new Set(events.map(({ id }) => id));
  const isControlled = events.some(({ actions }, index) => actions?.compaction ?? (index > 0 && actions?.rewind));
  if (ids.size < events.length || isControlled) throw new Refusal('INVALID_INPUT');
}

/** A missing timestamp is not compared. */
function isSame(original: Entry | undefined, { timestamp }: GivenEvent, submitted: string): boolean {
  return original?.submitted === submitted && (timestamp === undefined || timestamp === original.event.timestamp);
}

/** Summaries and rewinds must refer to existing events. */
function assertPlaces(event: GivenEvent, lastSeq: number): void {
  const { compaction, rewind } = event.actions ?? {};
  const end = (compaction ?? rewind)?.toSeq ?? 0;
  if (end > lastSeq) throw new Refusal('INVALID_INPUT');
}
