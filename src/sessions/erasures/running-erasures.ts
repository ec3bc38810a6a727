import { decide } from '../coordination/decide.js';
import { findWhere } from '../coordination/find-entries.js';
import { KnownEntries } from '../coordination/known-entries.js';
import { randomId, type UserKey } from '../domain/values/ids.js';
import type { RunningErasure } from '../domain/retention/erasure-rules.js';
import { StoreUnavailableError } from '../domain/errors/errors.js';
import { digestOf } from '../domain/values/json-digest.js';
import { LeaseRenewal } from '../leases/lease-renewal.js';
import type { EntryPlace, EntryTime, NewEntry } from '../storage/entry-store.js';
import { newEntry } from '../storage/new-entry.js';
import type { SessionStorage } from '../storage/session-storage.js';

const SPACE = 'erasing';
/** How long an erasure counts as running whose process has died. */
const TTL_MS = 60_000;

type Stored = Pick<SessionStorage, 'entries'>;

/** The note that a call erases a user. It is renewed until the call is over. */
export interface ErasureNote {
  /** Aborts when it is not noted any more that the call runs, so that it must remove nothing. */
  readonly signal: AbortSignal;
  end(): Promise<void>;
}

/**
 * Notes that a call erases a user, before the call asks for holds. Who holds a session writes that first, and then looks for these notes. So
 * one of both sees the other, as with two who each raise a flag before they look for that of the other.
 */
export async function noteErasing({ entries }: Stored, user: UserKey): Promise<ErasureNote> {
  const place: EntryPlace = { space: SPACE, name: `${digestOfUser(user)}:${randomId()}` };
  const change = (next: (since: number) => NewEntry | undefined): Promise<boolean> =>
    decide(new KnownEntries(entries), { places: [place] }, (seen) => {
      const stored = seen.at(place);
      if (!stored) return { answer: () => false };
      const write = { ...place, expected: stored.stamp, next: next(stored.since) };
      return { writes: [write], answer: () => true };
    });
  const askedAt = performance.now();
  await entries.write([{ ...place, expected: undefined, next: noteSince() }]);
  const renewal = new LeaseRenewal({
    renew: () => change(noteSince),
    lostError: () => new StoreUnavailableError('It could not be noted in time that the user is being erased.', false),
    ttlMs: TTL_MS,
    askedAt,
    onError: () => undefined,
  });
  return {
    signal: renewal.signal,
    async end() {
      renewal.stop();
      // What is left of it expires.
      await change(() => undefined).catch(() => false);
    },
  };
}

/** The calls that erase users now: of this user, or of all. */
export async function runningErasures({ entries }: Stored, user?: UserKey): Promise<readonly RunningErasure[]> {
  const begin = user ? `${digestOfUser(user)}:` : '';
  const running: RunningErasure[] = [];
  for await (const found of findWhere(new KnownEntries(entries), SPACE, (name) => name.startsWith(begin)))
    running.push(...found.entries);
  return running;
}

function noteSince(since?: EntryTime): NewEntry {
  return newEntry('{}', TTL_MS, since);
}

/** Who does not know the user learns nothing from it. */
function digestOfUser({ appName, userId }: UserKey): string {
  return digestOf([appName, userId]);
}
