import { decide } from '../coordination/decide.js';
import type { KnownEntries } from '../coordination/known-entries.js';
import { BoundedMap } from '../domain/bounded-map.js';
import type { Clock } from '../domain/clock.js';
import { KeyedQueue } from '../domain/keyed-queue.js';
import { type RateCount, type ShareDecision, takeShare, wishOf } from '../domain/quota-rules.js';
import { newStamp } from '../domain/stamp.js';
import { storedJson } from '../domain/stored-json.js';
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
    if (!share || share.limit !== limit || now >= share.until) return 'unknown';
    if (share.left >= atLeastOne(need)) {
      share.left -= need;
      share.spent += need;
      return undefined;
    }
    return !isForced && atLeastOne(need) >= share.refusedFrom ? refusalBy(share, now) : 'unknown';
  }

  async #ask(request: RateRequest, isForced: boolean): Promise<RateRefusal | undefined> {
    const { name, limit, windowMs, place } = request;
    const askedAt = this.clock.now();
    const share = this.#shares.get(name);
    const held = share && askedAt < share.until ? share : undefined;
    const { left: heldLeft = 0, spent = 0 } = held ?? {};
    const need = Math.max(0, request.need - heldLeft);
    // What is of this instance alone is taken as a whole.
    const wanted = { limit, windowMs, need, wish: place ? wishOf(limit, spent, need) : limit, isForced };
    const { taken, count, endsAt, now } = place
      ? await this.#askAll(place, wanted)
      : { ...takeShare(held && { since: held.resetsAt - windowMs, used: held.used }, askedAt, wanted), now: askedAt };
    const used = taken === undefined ? 0 : request.need;
    const left = heldLeft + (taken ?? 0) - used;
    const next: Share = {
      limit,
      until: askedAt + endsAt - now,
      resetsAt: endsAt,
      used: count.used,
      refusedFrom: Math.max(0, limit - count.used) + left + 1,
      left,
      spent: spent + used,
    };
    this.#shares.set(name, next);
    return taken === undefined ? refusalBy(next, askedAt) : undefined;
  }

  async #askAll(
    place: EntryPlace,
    wanted: Parameters<typeof takeShare>[2],
  ): Promise<ShareDecision & { readonly now: number }> {
    return decide(this.entries, { places: [place] }, (seen) => {
      const stored = seen.at(place);
      const decision = takeShare(stored && rateIn(stored), seen.now, wanted);
      const answer = (now: number): ShareDecision & { now: number } => ({ ...decision, now });
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

function refusalBy({ used, resetsAt, until }: Share, now: number): RateRefusal {
  return { used, resetsAt, retryAfterMs: Math.max(1, until - now) };
}
