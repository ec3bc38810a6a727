import type { KnownEntries } from '../coordination/known-entries.js';
import { DAY_MS } from '../domain/values/expiry.js';
import { type SessionCount, decideSession } from '../domain/usage/session-quota.js';
import { StoreUnavailableError } from '../domain/errors/errors.js';
import type { StateOwner } from '../domain/values/ids.js';
import { retryUndefined } from '../domain/process/retry-overtaken.js';
import { storedJson } from '../domain/stored/stored-json.js';
import type { EntryPlace, StoredEntry } from '../storage/entry-store.js';
import { countSessions } from '../storage/count-sessions.js';
import { newEntry } from '../storage/new-entry.js';
import type { SessionStorage } from '../storage/session-storage.js';

/** After so long without a creation, sessions are counted again. */
const KEPT_MS = 2 * DAY_MS;

/** Whose sessions are limited, and where all instances add them up. */
export interface SessionQuota {
  readonly owner: StateOwner;
  readonly place: EntryPlace;
  readonly limit: number;
}

/** Adds up the sessions of users and apps, for all instances. */
export class SessionCounts {
  constructor(
    private readonly entries: KnownEntries,
    private readonly storage: Pick<SessionStorage, 'list'>,
  ) {}

  /** Lets one more session be created, or returns how many there are. A read and a write; a count more if the limit is reached. */
  async take({ owner, place, limit }: SessionQuota): Promise<number | undefined> {
    let known: StoredEntry | undefined;
    let now: number | undefined;
    const decided = await retryUndefined(async () => {
      if (now === undefined) {
        const seen = await this.entries.find([place]);
        [known, now] = [seen.at(place), seen.now];
      }
      let decision = decideSession(known && countIn(known), now, limit);
      let refusal: SessionCount | undefined;
      if (decision.kind === 'count') {
        const counted = { used: await countSessions(this.storage, owner), at: now, countedAt: now };
        decision = decideSession(counted, now, limit);
        refusal = counted;
      }
      const next = decision.kind === 'create' ? decision.count : refusal;
      if (decision.kind === 'count') throw new Error('What was just counted is not doubtful');
      if (!next) return { decision };
      const outcome = await this.entries.write([
        { ...place, expected: known?.stamp, next: newEntry(JSON.stringify(next), KEPT_MS) },
      ]);
      if (outcome.kind === 'written') return { decision };
      [known, now] = [outcome.entries[0], outcome.now];
      return undefined;
    });
    if (!decided) throw new StoreUnavailableError('Others created sessions at the same time again and again.', false);
    return decided.decision.kind === 'refuse' ? decided.decision.used : undefined;
  }

  /** For a session that was not created. If it fails, the next count finds out. */
  async giveBack({ place }: SessionQuota): Promise<void> {
    await retryUndefined(async () => {
      const known = (await this.entries.find([place])).at(place);
      if (!known) return true;
      const { used, ...count } = countIn(known);
      const text = JSON.stringify({ ...count, used: Math.max(0, used - 1) });
      const outcome = await this.entries.write([{ ...place, expected: known.stamp, next: newEntry(text, KEPT_MS) }]);
      return outcome.kind === 'written' || undefined;
    });
  }
}

function countIn({ text }: StoredEntry): SessionCount {
  return storedJson(text, 'a quota') as SessionCount;
}
