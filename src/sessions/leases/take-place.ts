import { hostname } from 'node:os';
import { inBatches } from '../domain/stored/batches.js';
import type { AnyLeaseRequest, Lease, LeaseStore } from '../storage/coordination.js';
import { type RenewedLease, holdLease } from './hold-lease.js';

/** A work that some may do at once. */
export interface PlaceOptions {
  readonly leases: LeaseStore;
  readonly name: string;
  /** How many may do it at once, in all processes. */
  readonly places: number;
  /** Fewer that may be taken now. Needs at most 250 places. */
  readonly atMost?: number | undefined;
  /** When a place is free again whose process has died. */
  readonly ttlMs: number;
  readonly onError: (error: unknown) => void;
}

/** What a store is asked for at once. Unless nearly all places are taken, one call finds a free one. */
const PLACES_PER_CALL = 250;

/** Takes one of the places of a work, or nothing if all are taken. Each place is a lease. */
export async function takePlace(options: PlaceOptions): Promise<RenewedLease | undefined> {
  const { leases, name, places, atMost, ttlMs, onError } = options;
  // Those who ask at once do not all want the same one, unless they have to count.
  const first = atMost === undefined ? Math.floor(Math.random() * places) : 0;
  const names = Array.from({ length: places }, (_, index) => `${name}#${(first + index) % places}`);
  for (const batch of inBatches(names, { items: PLACES_PER_CALL })) {
    const askedAt = performance.now();
    const lease = await acquireAny(leases, { names: batch, atMost, holder: `${hostname()}:${process.pid}`, ttlMs });
    if (lease) return holdLease(lease, { leases, ttlMs, askedAt, onError });
  }
  return undefined;
}

async function acquireAny(leases: LeaseStore, request: AnyLeaseRequest): Promise<Lease | undefined> {
  if (leases.acquireAny) return leases.acquireAny(request);
  const { names, atMost, ...rest } = request;
  // It cannot count, so whoever got one of the first places keeps within the limit.
  for (const name of names.slice(0, atMost)) {
    const lease = await leases.acquire({ ...rest, name });
    if (lease) return lease;
  }
  return undefined;
}
