import type { StoredScope } from '../../state/scopes.js';
import { numberedEvents, recordAfter, findCommitRefusal } from '../domain/write/commit-rules.js';
import type { AppendOutcome, Commit, StoredEvent } from '../domain/stored/commit.js';
import { type Lifetime, type Lifetimes, NEVER, isExpired } from '../domain/values/expiry.js';
import { GrowingSize } from '../domain/stored/growing-size.js';
import { scopeOfOwner } from '../domain/values/ids.js';
import { metadataAfter } from '../domain/metadata/metadata-entries.js';
import { KeptEvent } from '../domain/stored/kept-event.js';
import { type EndedPartials, partialsLeft, type StoredPartial } from '../domain/stored/partial-event.js';
import type { NumberedEvent, SessionRecord } from '../domain/stored/session-record.js';
import { type StateExcess, type StateSize, UNCOUNTED, bytesAfter, countedSize } from '../domain/stored/state-size.js';
import { entriesAfter, entriesOfText, type StateText, stateText } from '../domain/stored/state-text.js';
import { changesNothing, type StateWrites, writesOf } from '../domain/stored/stored-json.js';
import { newStamp } from '../domain/values/stamp.js';
import type { UsageIncrement } from '../domain/usage/usage-periods.js';
import { usageByModel } from '../domain/usage/usage.js';
import type { PlannedEntry, PlannedScope, PlannedWrite, SessionHead, Upkeep } from '../storage/planned-write.js';
import { AHEAD_MS, type PlanTime } from '../storage/plan-time.js';
import { sharedOwnersOf } from '../storage/state-owners.js';

/** A size of state that nobody may rely on has to be counted first. */
export const UNCOUNTED_STATE = 'uncounted';

/** Renews a lifetime however much of it is left. */
const ALWAYS = Number.MAX_SAFE_INTEGER;

/** A change of a session that is no commit. */
export interface PlannedChange {
  /** What changes in the record. */
  readonly record?: Partial<SessionRecord> | undefined;
  /** Added as they are. */
  readonly events?: readonly NumberedEvent[] | undefined;
  /** The shared scopes to renew, if they are there. */
  readonly renews?: { readonly user?: Lifetime | undefined; readonly app?: Lifetime | undefined } | undefined;
  readonly upkeep?: Upkeep | undefined;
  readonly partial?: StoredPartial | undefined;
}

/** The write to one session that several operations make together. Each decides on what the earlier ones leave. */
export class SessionPlan {
  #record: SessionRecord;
  #metadata: SessionHead['metadata'];
  readonly #size: GrowingSize;
  #hasChanged = false;
  readonly #events: NumberedEvent[] = [];
  readonly #state = new Map<string, string | undefined>();
  readonly #scopes = new Map<'user' | 'app', ScopeChange>();
  #lifetimes: Lifetimes | undefined;
  readonly #usage: UsageIncrement[] = [];
  readonly #renewed = new Map<'user' | 'app', Lifetime>();
  #endsPartials: EndedPartials | undefined;
  #partials: StoredPartial[] = [];
  #upkeep: Upkeep | undefined;

  /**
   * @param seen stored events by their ids; those of the plan are added
   * @param keptOf what the store keeps of a record. Default: all
   */
  constructor(
    private readonly before: SessionHead,
    private readonly seen = new Map<string, StoredEvent>(),
    private readonly keptOf = (record: SessionRecord): SessionRecord => record,
  ) {
    this.#record = before.record;
    this.#metadata = before.metadata;
    this.#size = new GrowingSize('session', { atMost: before.record.stateBytes });
  }

  get record(): SessionRecord {
    return this.#record;
  }

  /** The session's own state was counted. */
  setStateSize(stored: StateSize): void {
    this.#size.setCounted(stored);
  }

  addSeen(events: ReadonlyMap<string, StoredEvent>): void {
    for (const [id, event] of events) this.seen.set(id, event);
  }

  /**
   * What becomes of a commit, which is added if it is `appended`. {@link UNCOUNTED_STATE} if the size of the state decides, and has to be
   * counted.
   *
   * @param sharedExcess the shared scope that it would make too large, if that is known
   */
  append(commit: Commit, now: number, sharedExcess?: StateExcess): AppendOutcome | typeof UNCOUNTED_STATE {
    const seen = commit.events.map(({ id }) => this.seen.get(id));
    const refusal = findCommitRefusal(commit, this.#record, seen, now);
    if (refusal) return refusal;
    const { metadata: changes = [] } = commit;
    const metadata = changes.length > 0 ? metadataAfter(this.#metadata ?? '', changes) : this.#metadata;
    if (changes.length > 0 && metadata === undefined) return { kind: 'full' };
    let ownExcess = this.#size.excess(commit, commit.maxStateBytes);
    if (ownExcess && !this.#size.isCounted) {
      if (this.before.state === undefined) return UNCOUNTED_STATE;
      this.#size.setCounted(countedSize(entriesOfText(this.before.state)));
      ownExcess = this.#size.excess(commit, commit.maxStateBytes);
    }
    const excess = ownExcess ?? sharedExcess;
    if (excess) return { kind: 'stateFull', excess };
    this.#size.add(commit);
    const { tipSeq: previousTipSeq } = this.#record;
    const record = this.keptOf(recordAfter(commit, this.#record, now, this.#size.atMost));
    this.#add(commit, numberedEvents(commit, this.#record, now));
    this.#metadata = metadata;
    this.#record = record;
    return { kind: 'appended', record, now, previousTipSeq };
  }

  /** Adds a change that is no commit. */
  change({ record, events = [], renews = {}, upkeep, partial }: PlannedChange): void {
    this.#hasChanged = true;
    if (record) this.#record = { ...this.#record, ...record };
    this.#addEvents(events);
    for (const scope of ['app', 'user'] as const) {
      const lifetime = renews[scope];
      if (lifetime) this.#renewed.set(scope, { ...lifetime, renewBelowMs: ALWAYS });
    }
    this.#upkeep = upkeep;
    if (partial) {
      const others = this.#partials.filter(({ number }) => number !== partial.number);
      this.#partials = [...others, partial].sort((a, b) => a.number - b.number);
    }
  }

  /** The write, if the operations change something. */
  write(): PlannedWrite | undefined {
    if (!this.#hasChanged) return undefined;
    const { before } = this;
    const { text: state, entries } = this.#plannedState();
    const isSame = this.#record === before.record && this.#metadata === before.metadata && state === before.state;
    const stamp = isSame ? before.stamp : newStamp();
    return {
      key: before.record,
      before,
      after: { record: this.#record, metadata: this.#metadata, state, stamp },
      events: this.#events,
      state: entries,
      scopes: this.#plannedScopes(),
      usage: mergeUsageIncrements(this.#usage),
      endsPartials: this.#endsPartials,
      partials: this.#partials,
      upkeep: this.#upkeep,
    };
  }

  /** A text that has become too long is kept key by key from then on. */
  #plannedState(): { readonly text: StateText | undefined; readonly entries: readonly PlannedEntry[] } {
    const { state } = this.before;
    if (state === undefined) return { text: undefined, entries: entriesIn(this.#state) };
    if (this.#state.size === 0) return { text: state, entries: NO_ENTRIES };
    const all = entriesAfter(state, this.#state);
    const text = stateText(all);
    return { text, entries: text === undefined ? entriesIn(all) : NO_ENTRIES };
  }

  #add(commit: Commit, events: readonly NumberedEvent[]): void {
    this.#hasChanged = true;
    this.#addEvents(events);
    addEntries(this.#state, commit, 'session');
    if (commit.expiry) {
      this.#lifetimes = commit.expiry;
      for (const scope of ['app', 'user'] as const) this.#addToScope(scope, commit);
    }
    if (commit.usage) this.#usage.push(commit.usage);
    this.#endsPartials = bothEnded(this.#endsPartials, commit.endsPartials);
    this.#partials = partialsLeft(this.#partials, commit.endsPartials);
  }

  #addEvents(events: readonly NumberedEvent[]): void {
    for (const event of events) {
      this.#events.push(event);
      this.seen.set(event.id, event instanceof KeptEvent ? event : { ...event, digest: '' });
    }
  }

  #addToScope(scope: 'user' | 'app', { maxStateBytes, ...commit }: Commit): void {
    const writes = writesOf(scope, commit);
    if (changesNothing(writes)) return;
    const change = this.#scopes.get(scope) ?? { entries: new Map(), growth: 0, most: Infinity };
    addEntries(change.entries, writes, scope);
    this.#scopes.set(scope, {
      entries: change.entries,
      growth: bytesAfter({ atMost: change.growth }, writes, scope),
      most: Math.min(change.most, maxStateBytes?.[scope] ?? Infinity, UNCOUNTED - 1),
    });
  }

  #plannedScopes(): PlannedScope[] {
    return sharedOwnersOf(this.before.record).flatMap((owner) => {
      const scope = scopeOfOwner(owner);
      const change = this.#scopes.get(scope);
      const lifetime = this.#renewed.get(scope) ?? this.#lifetimes?.[scope];
      if (!lifetime) return [];
      if (change) return [{ owner, lifetime, ...change, entries: entriesIn(change.entries) }];
      return lifetime.ttlMs < NEVER ? [{ owner, lifetime, entries: [], growth: 0, most: Infinity }] : [];
    });
  }
}

interface ScopeChange {
  readonly entries: Map<string, string | undefined>;
  readonly growth: number;
  readonly most: number;
}

/** Whether expiry and turn are the same at any time within the slack. */
export function isCertain({ expiresAt, turn }: SessionRecord, { now, slackMs }: PlanTime): boolean {
  if (slackMs === 0) return true;
  const isTurnCertain = isExpired(turn.expiresAt, now - AHEAD_MS) || !isExpired(turn.expiresAt, now + slackMs);
  return !isExpired(expiresAt, now + slackMs) && isTurnCertain;
}

/** The last write to a name wins. Within a commit, no name is both set and removed. */
function addEntries(
  entries: Map<string, string | undefined>,
  { upserts, removals }: StateWrites,
  ofScope: StoredScope,
): void {
  for (const { scope, name } of removals) if (scope === ofScope) entries.set(name, undefined);
  for (const { scope, name, value } of upserts) if (scope === ofScope) entries.set(name, value);
}

function entriesIn(entries: ReadonlyMap<string, string | undefined>): PlannedEntry[] {
  return entries.size === 0 ? NO_ENTRIES : [...entries].map(([name, value]) => ({ name, value }));
}

const NO_ENTRIES: PlannedEntry[] = [];

function mergeUsageIncrements(all: readonly UsageIncrement[]): UsageIncrement | undefined {
  const [first, ...others] = all;
  if (!first || others.length === 0) return first;
  return { models: usageByModel(all.flatMap(({ models }) => models)), keepMs: first.keepMs };
}

function bothEnded(a: EndedPartials | undefined, b: EndedPartials | undefined): EndedPartials | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a === 'all' || b === 'all' ? 'all' : [...a, ...b];
}
