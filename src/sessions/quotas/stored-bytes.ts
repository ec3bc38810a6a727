import { decide } from '../coordination/decide.js';
import type { KnownEntries } from '../coordination/known-entries.js';
import { StoreUnavailableError } from '../domain/errors/errors.js';
import { DAY_MS } from '../domain/values/expiry.js';
import type { UserKey } from '../domain/values/ids.js';
import type { ShareRequest } from '../domain/usage/rate-rules.js';
import { retryUndefined } from '../domain/process/retry-overtaken.js';
import {
  type BytesDecision,
  type BytesFound,
  BYTES_SHARE_MS,
  type StoredBytes,
  afterCount,
  countsAgainAt,
  decideBytes,
  shownBytes,
} from '../domain/usage/stored-bytes-rules.js';
import { storedJson } from '../domain/stored/stored-json.js';
import { countBytes } from '../storage/count-bytes.js';
import type { EntryPlace, StoredEntry } from '../storage/entry-store.js';
import { newEntry } from '../storage/new-entry.js';
import type { SessionStorage } from '../storage/session-storage.js';
import type { GivenShare } from './rate-shares.js';

/** After so long without a write, bytes are counted again. */
const KEPT_MS = 2 * DAY_MS;

/** Adds up what users have stored, for all instances. */
export class StoredBytesCounts {
  constructor(
    private readonly entries: KnownEntries,
    private readonly storage: Pick<SessionStorage, 'list' | 'tails'>,
  ) {}

  /** Gives a share of what is left. A read and a write; if the limit is reached also a count, and what it found is written. */
  async take(owner: UserKey, place: EntryPlace, wanted: ShareRequest): Promise<GivenShare> {
    const rule = (stored: StoredBytes, now: number) => decideBytes(stored, now, wanted);
    const { taken, next, now } = await this.#decide(owner, place, rule);
    const endsAt = taken === undefined ? countsAgainAt(next) : now + BYTES_SHARE_MS;
    return { taken, count: { since: now, used: shownBytes(next, wanted.limit) }, endsAt, now };
  }

  /** What is stored, by a count that is no older than ten seconds. */
  async look(owner: UserKey, place: EntryPlace): Promise<number> {
    return shownBytes((await this.#decide(owner, place, unlessOld)).next);
  }

  async #decide(owner: UserKey, place: EntryPlace, rule: Rule): Promise<BytesDecision & { readonly now: number }> {
    let count: BytesFound | undefined;
    const tryOnce = async (): Promise<(BytesDecision & { now: number }) | undefined> => {
      const { known, decision, now } = await this.#decideOn(place, count, rule);
      if (decision) return { ...decision, now };
      count = { before: known, beganAt: now, found: await countBytes(this.storage, owner) };
      return undefined;
    };
    // Usually one count is enough.
    const decided = await retryUndefined(async () => (await tryOnce()) ?? (await tryOnce()));
    if (!decided)
      throw new StoreUnavailableError('Others counted stored bytes at the same time again and again.', false);
    return decided;
  }

  #decideOn(place: EntryPlace, count: BytesFound | undefined, rule: Rule): Promise<Decided> {
    return decide(this.entries, { places: [place] }, (seen) => {
      const entry = seen.at(place);
      const stored = entry && storedIn(entry);
      const known = count ? afterCount(stored, seen.now, count) : stored;
      const decision = known && rule(known, seen.now);
      const next = decision?.next ?? known;
      const answer = (now: number): Decided => ({ known, decision, now });
      if (!next || next === stored) return { answer };
      return { writes: [{ ...place, expected: entry?.stamp, next: newEntry(JSON.stringify(next), KEPT_MS) }], answer };
    });
  }
}

type Rule = (stored: StoredBytes, now: number) => BytesDecision | undefined;

function unlessOld(next: StoredBytes, now: number): BytesDecision | undefined {
  return now < countsAgainAt(next) ? { next } : undefined;
}

interface Decided {
  readonly known: StoredBytes | undefined;
  readonly decision: BytesDecision | undefined;
  readonly now: number;
}

function storedIn({ text }: StoredEntry): StoredBytes {
  return storedJson(text, 'a quota') as StoredBytes;
}
