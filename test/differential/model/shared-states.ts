import { type TtlSettings, expiryFrom, isAlive, renewIfDue } from './expiry.js';
import { type Changes, type StateMap, apply } from './state.js';

interface Bucket {
  readonly state: StateMap;
  expiresAt: number;
}

/** The state of all users or of all apps, with one bucket per owner that has keys. */
export class SharedStates {
  readonly #buckets = new Map<string, Bucket>();

  constructor(
    private readonly ttl: TtlSettings,
    private readonly seconds: number,
  ) {}

  read(owner: string, now: number): StateMap {
    return new Map(this.#live(owner, now)?.state);
  }

  renew(owner: string, now: number): void {
    const bucket = this.#live(owner, now);
    if (bucket) renewIfDue(bucket, now, this.ttl, this.seconds);
  }

  write(owner: string, changes: Changes, now: number): void {
    const state = this.read(owner, now);
    apply(state, changes);
    if (state.size === 0) this.#buckets.delete(owner);
    else this.#buckets.set(owner, { state, expiresAt: expiryFrom(now, this.ttl, this.seconds) });
  }

  /** Removes expired buckets and returns their number. */
  purge(now: number): number {
    const expired = [...this.#buckets].filter(([, bucket]) => !isAlive(bucket, now));
    for (const [owner] of expired) this.#buckets.delete(owner);
    return expired.length;
  }

  keyCount(): number {
    return [...this.#buckets.values()].reduce((count, { state }) => count + state.size, 0);
  }

  expiries(): number[] {
    return [...this.#buckets.values()].map(({ expiresAt }) => expiresAt);
  }

  #live(owner: string, now: number): Bucket | undefined {
    const bucket = this.#buckets.get(owner);
    return bucket && isAlive(bucket, now) ? bucket : undefined;
  }
}
