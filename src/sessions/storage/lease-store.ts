/** The exclusive right to do the named work, for a limited time. */
export interface Lease {
  readonly name: string;
  /** Informational, for operators; no rule depends on it. */
  readonly holder: string;
  /**
   * The fencing token. A later acquisition of the same name always has a higher one. So the target of the work can
   * refuse late writers: those with a token lower than the highest it has seen.
   */
  readonly token: number;
  /** When the lease ends, by the store's clock. */
  readonly expiresAt: number;
}

/** The lease to acquire. */
export interface LeaseRequest {
  /** Name of the exclusive work: 1 to 400 UTF-8 bytes, compared byte for byte. */
  readonly name: string;
  /** 1 to 191 UTF-8 bytes. */
  readonly holder: string;
  /** Time to live without renewal. */
  readonly ttlMs: number;
}

/**
 * Leases for work that one instance at a time may do. Each method is atomic and uses the store's clock.
 *
 * Tokens are safe integers that grow with each acquisition of a name, also after its lease was released, expired
 * or purged; no two acquisitions of a name have the same one.
 *
 * If the response of `acquire` is lost, the lease may be taken. Then it stays unused until it expires.
 */
export interface LeaseStore {
  /**
   * Takes a free lease; returns `undefined` if it is held, even by the same holder. So two jobs of one process exclude
   * each other too.
   */
  acquire(request: LeaseRequest): Promise<Lease | undefined>;
  /**
   * Extends a lease from now on. Returns `undefined` if it is released or expired, even if it was not taken since.
   * Never changes another holder's lease.
   */
  renew(lease: Lease, ttlMs: number): Promise<Lease | undefined>;
  /** Releases a lease. Does nothing if the lease is over; a new holder keeps its lease. */
  release(lease: Lease): Promise<void>;
}
