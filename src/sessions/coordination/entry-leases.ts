import { KeyedQueue } from '../domain/process/keyed-queue.js';
import type { AnyLeaseRequest, Lease, LeaseRequest, LeaseStore } from '../storage/coordination.js';
import { decide } from './decide.js';
import type { KnownEntries } from './known-entries.js';
import { areCounted, placeOfLease, releaseLease, renewLease, takeLeases } from './lease-writes.js';

/** Requests that are decided together. */
interface Batch {
  readonly requests: AnyLeaseRequest[];
  readonly leases: Promise<readonly (Lease | undefined)[]>;
}

/** Leases as entries. An entry outlives its lease, so that the next token is higher. */
export class EntryLeases implements LeaseStore {
  /** The highest token of this process. */
  #given = 0;
  readonly #counting = new KeyedQueue();
  /** By the names of their leases. */
  readonly #next = new Map<string, Batch>();

  constructor(private readonly entries: KnownEntries) {}

  acquire({ name, holder, ttlMs }: LeaseRequest): Promise<Lease | undefined> {
    return this.acquireAny({ names: [name], holder, ttlMs });
  }

  async acquireAny(request: AnyLeaseRequest): Promise<Lease | undefined> {
    if (areCounted(request)) return this.#acquireCounted(request);
    const [lease] = await this.#acquire([request]);
    return lease;
  }

  /** Each who counts would refuse the others, so those of this process who come while one decides are decided together after it. */
  async #acquireCounted(request: AnyLeaseRequest): Promise<Lease | undefined> {
    const key = request.names.join('\u0000');
    const batch = this.#next.get(key) ?? this.#nextBatch(key);
    const index = batch.requests.push(request) - 1;
    return (await batch.leases)[index];
  }

  #nextBatch(key: string): Batch {
    const requests: AnyLeaseRequest[] = [];
    const leases = this.#counting.run(key, () => {
      this.#next.delete(key);
      return this.#acquire(requests);
    });
    const batch = { requests, leases };
    this.#next.set(key, batch);
    return batch;
  }

  /** @param requests for the same names */
  async #acquire(requests: readonly AnyLeaseRequest[]): Promise<readonly (Lease | undefined)[]> {
    const places = (requests[0]?.names ?? []).map(placeOfLease);
    const begin = this.entries.known(places);
    const leases = await decide(this.entries, { places, begin }, (seen) => takeLeases(requests, seen, this.#given));
    this.#given = Math.max(this.#given, ...leases.map((lease) => lease?.token ?? 0));
    return leases;
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
