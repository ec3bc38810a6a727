import { dueTime } from '../domain/background/agenda-limits.js';
import { DAY_MS, isExpired } from '../domain/values/expiry.js';
import { newStamp } from '../domain/values/stamp.js';
import { storedJson } from '../domain/stored/stored-json.js';
import type { AnyLeaseRequest, Lease } from '../storage/coordination.js';
import type { EntryPlace, EntryWrite, StoredEntry } from '../storage/entry-store.js';
import { type Decision, noAnswer } from './decide.js';
import type { EntryView } from './entry-view.js';

const SPACE = 'lease';
/** The rank of a lease that was released. */
const RELEASED = 0;
/**
 * How long the last token of a name is known after its lease has ended. Later tokens are higher because of the time, so that only a
 * clock that goes back further could repeat one.
 */
const TOKEN_KEPT_MS = DAY_MS;

/** What the entry of a lease says. Its rank is the end of the lease. */
type LeaseText = Pick<Lease, 'token' | 'holder'>;

export function placeOfLease(name: string): EntryPlace {
  return { space: SPACE, name };
}

/** Whether it depends on the other leases of a request which may be taken. */
export function areCounted({ names, atMost = names.length }: AnyLeaseRequest): boolean {
  return atMost < names.length;
}

/**
 * Takes the first leases that are free, one for each request, unless as many as it allows are held.
 *
 * @param requests for the same names
 * @param given the highest token that this process was given: the store may have lost its data
 */
export function takeLeases(
  requests: readonly AnyLeaseRequest[],
  seen: EntryView,
  given: number,
): Decision<readonly (Lease | undefined)[]> {
  const names = requests[0]?.names ?? [];
  const free = names.filter((one) => !heldLease(seen.at(placeOfLease(one)), seen.now));
  const taken = requests.map(({ atMost = names.length, holder, ttlMs }) => {
    const name = names.length - free.length < atMost ? free.shift() : undefined;
    if (name === undefined) return undefined;
    const last = seen.at(placeOfLease(name));
    return { name, last, holder, ttlMs, token: nextToken(last, seen.now, given) };
  });
  const found = taken.filter((one) => one !== undefined);
  if (found.length === 0) return { answer: () => taken.map(() => undefined) };
  // Where leases are counted, the others must be as they were seen.
  const isTaken = new Set(found.map(({ name }) => name));
  const counted = requests.some(areCounted) ? names.filter((one) => !isTaken.has(one)) : [];
  return {
    writes: [
      ...found.map(({ name, last, token, holder, ttlMs }) => leaseWrite(name, last, { token, holder }, ttlMs)),
      ...counted.map((one) => asSeen(placeOfLease(one), seen)),
    ],
    answer: (now) =>
      taken.map((one) => {
        if (!one) return undefined;
        const { name, holder, token, ttlMs } = one;
        return { name, holder, token, expiresAt: dueTime(now, ttlMs) };
      }),
  };
}

/** Renews a lease that is still held. */
export function renewLease({ name, token }: Lease, ttlMs: number, seen: EntryView): Decision<Lease | undefined> {
  const stored = seen.at(placeOfLease(name));
  const held = heldLease(stored, seen.now);
  if (held?.token !== token) return { answer: () => undefined };
  return {
    writes: [leaseWrite(name, stored, held, ttlMs)],
    answer: (now) => ({ ...held, expiresAt: dueTime(now, ttlMs) }),
  };
}

/** Releases a lease, unless it has another holder. */
export function releaseLease({ name, token }: Lease, seen: EntryView): Decision<void> {
  const stored = seen.at(placeOfLease(name));
  if (!stored || stored.rank === RELEASED || leaseText(stored).token !== token) return { answer: noAnswer };
  return { writes: [leaseWrite(name, stored, leaseText(stored), 'released')], answer: noAnswer };
}

/** Higher than all tokens before, of this name. */
function nextToken(last: StoredEntry | undefined, now: number, given: number): number {
  return Math.max(Math.floor(now) * 1_000, given + 1, (last ? leaseText(last).token : 0) + 1);
}

function heldLease(stored: StoredEntry | undefined, now: number): Lease | undefined {
  if (!stored || isExpired(stored.rank, now)) return undefined;
  const { token, holder } = leaseText(stored);
  return { name: stored.name, holder, token, expiresAt: stored.rank };
}

function leaseText({ text }: StoredEntry): LeaseText {
  return storedJson(text, 'a lease') as LeaseText;
}

function leaseWrite(
  name: string,
  stored: StoredEntry | undefined,
  { token, holder }: LeaseText,
  ttlMs: number | 'released',
): EntryWrite {
  const isReleased = ttlMs === 'released';
  const next = {
    stamp: newStamp(),
    rank: isReleased ? RELEASED : { inMs: ttlMs },
    since: stored?.since ?? { inMs: 0 },
    text: JSON.stringify({ token, holder }),
    ttlMs: (isReleased ? 0 : ttlMs) + TOKEN_KEPT_MS,
  };
  return { ...placeOfLease(name), expected: stored?.stamp, next };
}

function asSeen(place: EntryPlace, seen: EntryView): EntryWrite {
  return { ...place, expected: seen.at(place)?.stamp, next: 'same' };
}
