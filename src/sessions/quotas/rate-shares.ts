import { decide } from '../coordination/decide.js';
import type { KnownEntries } from '../coordination/known-entries.js';
import { BoundedMap } from '../domain/process/bounded-map.js';
import type { Clock } from '../domain/process/clock.js';
import { KeyedQueue } from '../domain/process/keyed-queue.js';
import {
  type RateCount,
  type ShareDecision,
  type ShareRequest,
  takeShare,
  wishOf,
} from '../domain/usage/rate-rules.js';
import { newStamp } from '../domain/values/stamp.js';
import { storedJson } from '../domain/stored/stored-json.js';
import type { EntryPlace, StoredEntry } from '../storage/entry-store.js';

/** What is asked of a rate. */
export interface RateRequest {
  /** Where all instances count it. Missing: it is of this instance alone. */
  readonly place: EntryPlace | undefined;
  /** Its name in this instance. */
  readonly name: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly need: number;
  /** Asks all instances for a share of what is stored, where there is no window. */
  readonly ask?: ((wanted: ShareRequest) => Promise<GivenShare>) | undefined;
}

/** What all instances give. */
export interface GivenShare extends ShareDecision {
  /** The store's time. */
  readonly now: number;
}

/** Why a rate has no room. */
export interface RateRefusal {
  readonly used: number;
  readonly resetsAt: number;
  readonly retryAfterMs: number;
}

/** What this instance holds of a rate until its window is over. */
interface Share {
  readonly limit: number;
  /** By the clock of this instance. */
  readonly until: number;
  /** Until when nobody is asked again for what was refused. */
  readonly refusedUntil: number;
  readonly resetsAt: number;
  readonly used: number;
  /** So much is not left to all instances together. */
  readonly refusedFrom: number;
  left: number;
  spent: number;
}

/** Rates whose shares this instance remembers. Of one that is forgotten, what was left is lost until its window is over. */
const MOST_SHARES = 10_000;

/** An entry of a window that is over. */
const KEPT_MS = 60_000;

/**
 * Spends rates that instances share. An instance takes a share of the window in one write, and spends it without the store, so most
 * appends ask nobody. Shares are never more than the limit together.
 */
export class RateShares {
  readonly #shares = new BoundedMap<Share>(MOST_SHARES);
  readonly #asking = new KeyedQueue();

  constructor(
    private readonly entries: KnownEntries,
    private readonly clock: Clock,
  ) {}

  /** Takes what is needed, or says why not. With `isForced` it is counted, and never refused. */
  async take(request: RateRequest, isForced: boolean): Promise<RateRefusal | undefined> {
    const known = this.#spend(request, isForced);
    if (known !== 'unknown') return known;
    return this.#asking.run(request.name, async () => {
      // Another one may have asked meanwhile.
      const learned = this.#spend(request, isForced);
      return learned === 'unknown' ? this.#ask(request, isForced) : learned;
    });
  }

  /** Gives back what was taken for a write that did not come. */
  giveBack({ name, need }: RateRequest): void {
    const share = this.#shares.get(name);
    if (!share) return;
    share.left += need;
    share.spent -= need;
  }

  #spend({ name, limit, need }: RateRequest, isForced: boolean): RateRefusal | undefined | 'unknown' {
    const share = this.#shares.get(name);
    const now = this.clock.now();
    if (!share || share.limit !== limit) return 'unknown';
    if (now < share.until && share.left >= atLeastOne(need)) {
      share.left -= need;
      share.spent += need;
      return undefined;
    }
    const isRefused = !isForced && now < share.refusedUntil && atLeastOne(need) >= share.refusedFrom;
    return isRefused ? refusalBy(share, now) : 'unknown';
  }

  async #ask(request: RateRequest, isForced: boolean): Promise<RateRefusal | undefined> {
    const { name, limit, windowMs, place, ask } = request;
    const askedAt = this.clock.now();
    const share = this.#shares.get(name);
    const held = share && askedAt < share.until ? share : undefined;
    // It is spent at once, so nothing of a share is spent after its time.
    const heldLeft = held?.left ?? 0;
    const need = Math.max(0, request.need - heldLeft);
    // Shares of what is stored are short, so the last one tells how much is spent.
    const spent = (ask ? share : held)?.spent ?? 0;
    // What is of this instance alone is taken as a whole.
    const wanted = { limit, windowMs, need, wish: place ? wishOf(limit, spent, need) : limit, isForced };
    const { taken, count, endsAt, now } = await this.#given(request, wanted, { held, askedAt });
    const used = taken === undefined ? 0 : request.need;
    const left = heldLeft + (taken ?? 0) - used;
    const endsHere = askedAt + endsAt - now;
    const isRefused = taken === undefined;
    const next: Share = {
      limit,
      until: ask && isRefused ? (held?.until ?? 0) : endsHere,
      // What was deleted makes room at any time, so only a refusal says that there is none.
      refusedUntil: ask && !isRefused ? 0 : endsHere,
      resetsAt: endsAt,
      used: count.used,
      refusedFrom: Math.max(0, limit - count.used) + left + 1,
      left,
      spent: (held?.spent ?? 0) + used,
    };
    this.#shares.set(name, next);
    return isRefused ? refusalBy(next, askedAt) : undefined;
  }

  async #given(
    { place, ask }: RateRequest,
    wanted: ShareRequest,
    { held, askedAt }: { readonly held: Share | undefined; readonly askedAt: number },
  ): Promise<GivenShare> {
    if (ask) return ask(wanted);
    if (place) return this.#askAll(place, wanted);
    const known = held && { since: held.resetsAt - wanted.windowMs, used: held.used };
    return { ...takeShare(known, askedAt, wanted), now: askedAt };
  }

  async #askAll(place: EntryPlace, wanted: ShareRequest): Promise<GivenShare> {
    return decide(this.entries, { places: [place] }, (seen) => {
      const stored = seen.at(place);
      const decision = takeShare(stored && rateIn(stored), seen.now, wanted);
      const answer = (now: number): GivenShare => ({ ...decision, now });
      if (decision.taken === undefined) return { answer };
      const next = {
        stamp: newStamp(),
        rank: 0,
        since: { inMs: 0 },
        text: JSON.stringify(decision.count),
        ttlMs: wanted.windowMs + KEPT_MS,
      };
      return { writes: [{ ...place, expected: stored?.stamp, next }], answer };
    });
  }
}

/** What instances have noted. */
export function rateIn({ text }: StoredEntry): RateCount {
  return storedJson(text, 'a quota') as RateCount;
}

function atLeastOne(need: number): number {
  return Math.max(1, need);
}

function refusalBy({ used, resetsAt, refusedUntil }: Share, now: number): RateRefusal {
  return { used, resetsAt, retryAfterMs: Math.max(1, refusedUntil - now) };
}
