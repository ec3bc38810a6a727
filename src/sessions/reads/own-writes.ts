import type { UserKey } from '../domain/values/ids.js';
import { ownerNameOf } from '../storage/state-owners.js';

/** More users than one instance writes for within the lag of a replica, as a rule. */
const MAX_USERS = 20_000;

/** Remembers for which users this process wrote lately, and when the last write ended. */
export class OwnWrites {
  /** By the name of the user, the write that is longest ago first. */
  readonly #ends = new Map<string, number>();
  /** When the last write ended that is not remembered by its user. */
  #forgotten = -Infinity;

  note(user: UserKey, now: number): void {
    const name = ownerNameOf(user);
    this.#ends.delete(name);
    this.#ends.set(name, now);
    const [oldest] = this.#ends;
    if (this.#ends.size <= MAX_USERS || !oldest) return;
    this.#ends.delete(oldest[0]);
    this.#forgotten = oldest[1];
  }

  /** Whether a write for this user may have ended at this time or later. */
  hasSince(user: UserKey, time: number): boolean {
    return (this.#ends.get(ownerNameOf(user)) ?? this.#forgotten) >= time;
  }

  /** Forgets writes that ended before this time. */
  forgetBefore(time: number): void {
    for (const [name, end] of this.#ends) {
      if (end >= time) return;
      this.#ends.delete(name);
    }
  }
}
