import { type Entry, isRewind, isSummary } from './entries.js';
import { type Filter, filterView, tailOf } from './filter.js';
import { type ModelMetadata, toldBy } from './metadata.js';
import type { ModelSession } from './model-session.js';
import { type Narrowing, isAfter, placeOf } from './narrowing.js';
import { type Changes, type StateMap, changesOf, only, scopeOf } from './state.js';

const REMOVED = Symbol('removed');

/** How an object was loaded: the caller's narrowing, and what it left out. */
interface Loading {
  readonly narrowing: Narrowing;
  readonly leftOut: number;
  readonly fromSeq: number | undefined;
}

/** A session object of a caller: what it loaded, and what it learned since. */
export class ModelObject {
  version: number;
  conversationCount: number;
  lastUpdateTime: number;
  /** Commits after `version` that it knows, each with the last version-relevant event before it. */
  readonly #ahead = new Map<number, number>();
  /** All events of its view, including those that a filter hides. */
  #known: Entry[];
  /** Whether the shown events are defined: not if an age was computed with the time of an earlier attempt. */
  isCertain = true;
  #now = 0;
  readonly #seqOfKey = new Map<string, number>();
  readonly metadata: ModelMetadata;
  readonly #seqOfThing = new Map<string, number>();
  readonly #pending = new Map<string, unknown>();
  /** The last `seq` of the log when the view was read. */
  #viewSeq: number;

  constructor(
    readonly session: ModelSession,
    private readonly loaded: StateMap,
    public shown: Entry[],
    private loading: Loading = { narrowing: {}, leftOut: -1, fromSeq: undefined },
  ) {
    this.metadata = new Map(session.metadata);
    this.version = session.lastSeq;
    this.#viewSeq = session.lastSeq;
    this.#known = session.view();
    this.conversationCount = session.conversationCount;
    this.lastUpdateTime = session.lastUpdateTime;
  }

  get state(): StateMap {
    const state = new Map(this.loaded);
    for (const [key, value] of this.#pending) {
      if (value === REMOVED) state.delete(key);
      else state.set(key, value);
    }
    return state;
  }

  set(key: string, value: unknown): void {
    if (scopeOf(key) === 'temp') {
      this.loaded.set(key, value);
      return;
    }
    if (this.#pending.get(key) === REMOVED) this.#pending.delete(key);
    this.#pending.set(key, value);
  }

  remove(key: string): void {
    if (this.#pending.get(key) === REMOVED) return;
    this.#pending.delete(key);
    if (scopeOf(key) === 'temp') this.loaded.delete(key);
    else if (this.loaded.has(key)) this.#pending.set(key, REMOVED);
  }

  /** The unsaved changes. */
  pending(): Changes {
    const entries = [...this.#pending];
    return {
      set: entries.filter(([, value]) => value !== REMOVED),
      removed: entries.filter(([, value]) => value === REMOVED).map(([key]) => key),
    };
  }

  /** Clears the unsaved changes after a save. */
  clearPending(): void {
    this.#pending.clear();
  }

  isNew({ seq }: Entry): boolean {
    return seq > this.version && !this.#ahead.has(seq);
  }

  /** Applies an append through this object; `tipBefore` is the tip before it, if known. */
  learn(entry: Entry, temp: Changes, tipBefore: number | undefined): void {
    this.#learnState(temp);
    if (!this.isNew(entry)) return;
    const { set, removed } = only(changesOf(entry.event.actions), 'session', 'user', 'app');
    const isNew = (key: string) => entry.seq > (this.#seqOfKey.get(key) ?? 0);
    const fresh = { set: set.filter(([key]) => isNew(key)), removed: removed.filter(isNew) };
    this.#learnState(fresh);
    for (const key of [...fresh.set.map(([name]) => name), ...fresh.removed]) this.#seqOfKey.set(key, entry.seq);

    for (const [thing, value] of toldBy(entry.event.actions?.metadataDelta)) {
      if (entry.seq <= (this.#seqOfThing.get(thing) ?? 0)) continue;
      this.#seqOfThing.set(thing, entry.seq);
      if (value === undefined) this.metadata.delete(thing);
      else this.metadata.set(thing, value);
    }

    this.conversationCount = this.session.conversationCount;
    this.lastUpdateTime = this.session.lastUpdateTime;
    this.#ahead.set(entry.seq, tipBefore ?? entry.seq - 1);
    for (const [seq, tip] of [...this.#ahead].sort(([a], [b]) => a - b)) {
      if (tip <= this.version) this.version = Math.max(this.version, seq);
    }
  }

  /** Updates the shown events after an append that was new to it. */
  show(entry: Entry, filter: Filter, now: number): void {
    const isControl = this.session.log.some((other) => other.seq >= entry.seq && (isSummary(other) || isRewind(other)));
    if (isControl) {
      this.#known = this.session.view();
      this.#viewSeq = this.session.lastSeq;
      this.isCertain = true;
      this.load(filter, this.loading.narrowing, now);
      return;
    }
    if (entry.seq <= this.#viewSeq) return;
    this.#now = Math.max(this.#now, now);
    const place = this.#known.findLastIndex((known) => known.seq < entry.seq || isSummary(known)) + 1;
    this.#known = this.#known.toSpliced(place, 0, entry);
    const { narrowing, leftOut, fromSeq } = this.loading;
    const view = filterView(this.#known, { ...filter, fromSeq }, this.#now);
    this.shown = view.filter((shown) => isAfter(shown, narrowing) && placeOf(shown) > leftOut);
  }

  /** Loads the view that a reader with this narrowing gets. */
  load(filter: Filter, narrowing: Narrowing, now: number, isForOneRead = false): void {
    this.#now = now;
    const view = filterView(this.#known, filter, now);
    const after = view.filter((entry) => isAfter(entry, narrowing));
    const { numRecentEvents = after.length } = narrowing;
    this.shown = after.slice(Math.max(0, after.length - numRecentEvents));
    const last = after[after.length - this.shown.length - 1];
    const isFiltered = filter.newest > 0 || filter.maxAgeMs > 0;
    if (narrowing.numRecentEvents === 0) {
      const fromSeq = isFiltered ? this.session.lastSeq + 1 : undefined;
      this.loading = { narrowing, leftOut: this.session.lastSeq, fromSeq };
      return;
    }
    const fromSeq = isForOneRead ? (tailOf(this.#known, filter, now)[0]?.seq ?? this.session.lastSeq + 1) : undefined;
    this.loading = { narrowing, leftOut: last ? placeOf(last) : -1, fromSeq };
  }

  #learnState({ set, removed }: Changes): void {
    for (const [key, value] of set) this.loaded.set(key, value);
    for (const key of removed) {
      this.loaded.delete(key);
      if (this.#pending.get(key) === REMOVED) this.#pending.delete(key);
    }
  }
}
