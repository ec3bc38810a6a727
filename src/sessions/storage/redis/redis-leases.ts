import type { Lease, LeaseRequest, LeaseStore } from '../lease-store.js';
import type { RedisConnection } from './redis-connection.js';
import type { RedisKeys } from './redis-keys.js';
import { ACQUIRE_LEASE, RELEASE_LEASE, RENEW_LEASE } from './scripts/lease-scripts.js';

/** Leases in Redis: each call is one script, and one round trip. */
export class RedisLeases implements LeaseStore {
  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: RedisKeys,
  ) {}

  async acquire({ name, holder, ttlMs }: LeaseRequest): Promise<Lease | undefined> {
    const reply = await this.connection.write<readonly [token: string, expiresAt: string] | null>(ACQUIRE_LEASE, {
      keys: [this.keys.lease(name), this.keys.lastLeaseToken],
      args: [holder, ttlMs],
    });
    if (!reply) return undefined;
    const [token, expiresAt] = reply;
    return { name, holder, token: Number(token), expiresAt: Number(expiresAt) };
  }

  async renew(lease: Lease, ttlMs: number): Promise<Lease | undefined> {
    const expiresAt = await this.connection.write<string | null>(RENEW_LEASE, {
      keys: [this.keys.lease(lease.name)],
      args: [lease.token, ttlMs],
    });
    return expiresAt === null ? undefined : { ...lease, expiresAt: Number(expiresAt) };
  }

  async release({ name, token }: Lease): Promise<void> {
    await this.connection.write(RELEASE_LEASE, { keys: [this.keys.lease(name)], args: [token] });
  }
}
