import { type Entry, isRewind, isSummary } from './entries.js';
import { type Filter, filterView, tailOf } from './filter.js';
import type { ModelSession } from './model-session.js';
import { type Narrowing, isAfter, placeOf } from './narrowing.js';
import { type Changes, type StateMap, changesOf, only, scopeOf } from './state.js';

const REMOVED = Symbol('removed');

/** What an object was loaded with: what its reader asked for, and what that left out. */
interface Loading {
  readonly narrowing: Narrowing;
  readonly leftOut: number;
  readonly fromSeq: number | undefined;
}

/** The session object that a caller holds: what it was loaded with, and what it learned since. */
export class ModelObject {
  version: number;
  conversationCount: number;
  lastUpdateTime: number;
  /** Commits beyond `version` that it learned of, each with the last event before it that counts for versions. */
  readonly #ahead = new Map<number, number>();
  /** All that its view is made of, hidden by a filter or not. */
  #known: Entry[];
  /** Whether it is certain what it shows: not where an age was told by the time of an earlier try. */
  isCertain = true;
  #now = 0;
  readonly #seqOfKey = new Map<string, number>();
  readonly #pending = new Map<string, unknown>();
  /** How long the log was when its view was read. */
  #viewSeq: number;

  constructor(
    readonly session: ModelSession,
    private readonly loaded: StateMap,
    public shown: Entry[],
    private loading: Loading = { narrowing: {}, leftOut: -1, fromSeq: undefined },
  ) {
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

  /** What is to be saved. */
  pending(): Changes {
    const entries = [...this.#pending];
    return {
      set: entries.filter(([, value]) => value !== REMOVED),
      removed: entries.filter(([, value]) => value === REMOVED).map(([key]) => key),
    };
  }

  /** Forgets what is pending and now saved. */
  settle(): void {
    this.#pending.clear();
  }

  isNews({ seq }: Entry): boolean {
    return seq > this.version && !this.#ahead.has(seq);
  }

  /** What an append through this object teaches it; `tipBefore` is what came before it, where that is known. */
  learn(entry: Entry, temp: Changes, tipBefore: number | undefined): void {
    this.#learnState(temp);
    if (!this.isNews(entry)) return;
    const { set, removed } = only(changesOf(entry.event.actions), 'session', 'user', 'app');
    const isNews = (key: string) => entry.seq > (this.#seqOfKey.get(key) ?? 0);
    const news = { set: set.filter(([key]) => isNews(key)), removed: removed.filter(isNews) };
    this.#learnState(news);
    for (const key of [...news.set.map(([name]) => name), ...news.removed]) this.#seqOfKey.set(key, entry.seq);

    this.conversationCount = this.session.conversationCount;
    this.lastUpdateTime = this.session.lastUpdateTime;
    this.#ahead.set(entry.seq, tipBefore ?? entry.seq - 1);
    for (const [seq, tip] of [...this.#ahead].sort(([a], [b]) => a - b)) {
      if (tip <= this.version) this.version = Math.max(this.version, seq);
    }
  }

  /** What it shows after an append that was news to it. */
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

  /** Shows what a reader is shown who asks for this, and goes on from there. */
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
