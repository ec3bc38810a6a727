/** The right to do alone, for a while, what a name stands for. */
export interface Lease {
  readonly name: string;
  /** Who has it, for people who look into a store; nothing is decided by it. */
  readonly holder: string;
  /**
   * The fencing token. A later acquisition of the same name always has a higher one, so whatever the work
   * writes to can refuse those who come late: what is lower than the highest that it has seen.
   */
  readonly token: number;
  /** At this moment, by the store's clock, it is over. */
  readonly expiresAt: number;
}

/** Which lease to take. */
export interface LeaseRequest {
  /** What only one may do: 1 to 400 UTF-8 bytes, compared byte for byte. */
  readonly name: string;
  /** 1 to 191 UTF-8 bytes. */
  readonly holder: string;
  /** How long it lives unless it is renewed. */
  readonly ttlMs: number;
}

/**
 * What one instance at a time may do. Each method is atomic, and time is the store's own, as for sessions.
 *
 * Tokens are safe integers that grow with each acquisition of a name, also after its lease was released, expired
 * or purged; no two acquisitions of a name have the same one.
 *
 * A call whose answer was lost may have taken the lease. Nobody holds it then until it expires.
 */
export interface LeaseStore {
  /**
   * Takes a lease that nobody holds; `undefined` where somebody does. Its own holder is refused like anyone
   * else: two jobs of one process exclude one another too.
   */
  acquire(request: LeaseRequest): Promise<Lease | undefined>;
  /**
   * Lets a lease live so long from now on. `undefined` where it is over: expired, even if nobody took it
   * since, or released. Nobody else's lease is touched, then or ever.
   */
  renew(lease: Lease, ttlMs: number): Promise<Lease | undefined>;
  /** Gives a lease back. Where it is over, nothing happens: whoever has it now keeps it. */
  release(lease: Lease): Promise<void>;
}
