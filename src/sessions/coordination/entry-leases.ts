import type { AnyLeaseRequest, Lease, LeaseRequest, LeaseStore } from '../storage/coordination.js';
import { decide } from './decide.js';
import type { KnownEntries } from './known-entries.js';
import { placeOfLease, releaseLease, renewLease, takeLease } from './lease-entries.js';

/** Leases as entries. An entry outlives its lease, so that the next token is higher. */
export class EntryLeases implements LeaseStore {
  /** The highest token of this process. */
  #given = 0;

  constructor(private readonly entries: KnownEntries) {}

  acquire({ name, holder, ttlMs }: LeaseRequest): Promise<Lease | undefined> {
    return this.acquireAny({ names: [name], holder, ttlMs });
  }

  async acquireAny(request: AnyLeaseRequest): Promise<Lease | undefined> {
    const places = request.names.map(placeOfLease);
    const begin = this.entries.known(places);
    const lease = await decide(this.entries, { places, begin }, (seen) => takeLease(request, seen, this.#given));
    this.#given = Math.max(this.#given, lease?.token ?? 0);
    return lease;
  }

  /** Reads first: only the store knows whether the lease is over. */
  async renew(lease: Lease, ttlMs: number): Promise<Lease | undefined> {
    const places = [placeOfLease(lease.name)];
    return decide(this.entries, { places }, (seen) => renewLease(lease, ttlMs, seen));
  }

  async release(lease: Lease): Promise<void> {
    const places = [placeOfLease(lease.name)];
    const begin = this.entries.known(places);
    return decide(this.entries, { places, begin }, (seen) => releaseLease(lease, seen));
  }
}
