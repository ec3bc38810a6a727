import { systemClock } from '../../domain/clock.js';
import { expiresAt, isExpired } from '../../domain/expiry.js';
import type { AnyLeaseRequest, Lease, LeaseRequest, LeaseStore } from '../coordination.js';

/** Held leases by name. */
export class InMemoryLeases implements LeaseStore {
  readonly #leases = new Map<string, Lease>();
  /** Begins with the time in microseconds, so that tokens of a later process are higher. */
  #lastToken = systemClock.now() * 1000;

  /** @param now the time of an operation */
  constructor(private readonly now: () => number) {}

  async acquire({ name, holder, ttlMs }: LeaseRequest): Promise<Lease | undefined> {
    const now = this.now();
    const held = this.#leases.get(name);
    if (held && !isExpired(held.expiresAt, now)) return undefined;
    return this.#put({ name, holder, token: ++this.#lastToken, expiresAt: expiresAt(now, { ttlMs }) });
  }

  async acquireAny({ names, atMost = names.length, ...request }: AnyLeaseRequest): Promise<Lease | undefined> {
    const now = this.now();
    const free = names.filter((name) => isExpired(this.#leases.get(name)?.expiresAt ?? 0, now));
    const [name] = free;
    if (name === undefined || names.length - free.length >= atMost) return undefined;
    return this.acquire({ ...request, name });
  }

  async renew(lease: Lease, ttlMs: number): Promise<Lease | undefined> {
    const now = this.now();
    const held = this.#current(lease, now);
    return held && this.#put({ ...held, expiresAt: expiresAt(now, { ttlMs }) });
  }

  async release(lease: Lease): Promise<void> {
    if (this.#current(lease, this.now())) this.#leases.delete(lease.name);
  }

  purge(limit: number, now: number): void {
    const expired = this.all().filter((lease) => isExpired(lease.expiresAt, now));
    for (const { name } of expired.slice(0, limit)) this.#leases.delete(name);
  }

  all(): Lease[] {
    return [...this.#leases.values()];
  }

  clear(): void {
    this.#leases.clear();
  }

  #put(lease: Lease): Lease {
    this.#leases.set(lease.name, lease);
    return { ...lease };
  }

  /** The stored lease, if it is still held. */
  #current({ name, token }: Lease, now: number): Lease | undefined {
    const held = this.#leases.get(name);
    return held?.token === token && !isExpired(held.expiresAt, now) ? held : undefined;
  }
}
