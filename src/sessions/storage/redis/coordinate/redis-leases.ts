import type { Lease, LeaseRequest, LeaseStore } from '../../coordination.js';
import type { RedisKeys } from '../redis-keys.js';
import { TIME } from '../script/base.lua.js';
import { type ScriptRunner, defineScript } from '../script/script.js';

/** Leases in Redis. Each call is one script and one round trip. */
export class RedisLeases implements LeaseStore {
  constructor(
    private readonly scripts: ScriptRunner,
    private readonly keys: RedisKeys,
  ) {}

  async acquire({ name, holder, ttlMs }: LeaseRequest): Promise<Lease | undefined> {
    const reply = await this.scripts.write<readonly [token: string, expiresAt: string] | null>(ACQUIRE_LEASE, {
      keys: [this.keys.lease(name), this.keys.lastLeaseToken],
      args: [holder, ttlMs],
    });
    if (!reply) return undefined;
    const [token, expiresAt] = reply;
    return { name, holder, token: Number(token), expiresAt: Number(expiresAt) };
  }

  async renew(lease: Lease, ttlMs: number): Promise<Lease | undefined> {
    const expiresAt = await this.scripts.write<string | null>(RENEW_LEASE, {
      keys: [this.keys.lease(lease.name)],
      args: [lease.token, ttlMs],
    });
    return expiresAt === null ? undefined : { ...lease, expiresAt: Number(expiresAt) };
  }

  async release({ name, token }: Lease): Promise<void> {
    await this.scripts.write(RELEASE_LEASE, { keys: [this.keys.lease(name)], args: [token] });
  }
}

/** Needs TIME. */
const LEASE = String.raw`
local function isHeld(expiry)
  return expiry and tonumber(expiry) > now
end

-- Whether the lease is held with this token.
local function isHeldWith(token)
  local lease = redis.call('HMGET', KEYS[1], 'token', 'expires')
  return lease[1] == token and isHeld(lease[2])
end
`;

/**
 * Acquires a lease that is free.
 *
 * The token is the server time in microseconds, or the last token plus one if that is higher. So tokens grow even after
 * a loss of data. The last token is kept until a day after the time that it encodes. So tokens also grow if the clock of
 * the server goes back, or a replica whose clock is behind takes over.
 *
 * KEYS 1 lease, 2 last token of all leases.
 * ARGV 1 time, 2 holder, 3 ttl.
 * Returns { token, expiry }, or nothing if the lease is held.
 */
export const ACQUIRE_LEASE = defineScript(
  'acquire-lease',
  TIME,
  LEASE,
  String.raw`
local KEPT_MS = 86400000
if isHeld(redis.call('HGET', KEYS[1], 'expires')) then return false end

local time = redis.call('TIME')
local last = tonumber(redis.call('GET', KEYS[2])) or 0
local token = math.max(time[1] * 1000000 + time[2], last + 1)
redis.call('SET', KEYS[2], text(token), 'PXAT', text(math.floor(token / 1000) + KEPT_MS))

local expiry = expiresAt(tonumber(ARGV[3]))
redis.call('HSET', KEYS[1], 'token', text(token), 'holder', ARGV[2], 'expires', text(expiry))
expireKeys({ KEYS[1] }, expiry)
return { text(token), text(expiry) }
`,
);

/**
 * Renews a lease that is still held.
 *
 * KEYS 1 lease.
 * ARGV 1 time, 2 token, 3 ttl.
 * Returns the expiry, or nothing if the lease is lost.
 */
export const RENEW_LEASE = defineScript(
  'renew-lease',
  TIME,
  LEASE,
  String.raw`
if not isHeldWith(ARGV[2]) then return false end
local expiry = expiresAt(tonumber(ARGV[3]))
redis.call('HSET', KEYS[1], 'expires', text(expiry))
expireKeys({ KEYS[1] }, expiry)
return text(expiry)
`,
);

/**
 * Releases a lease that is still held.
 *
 * KEYS 1 lease.
 * ARGV 1 time, 2 token.
 * Returns nothing.
 */
export const RELEASE_LEASE = defineScript(
  'release-lease',
  TIME,
  LEASE,
  String.raw`
if isHeldWith(ARGV[2]) then redis.call('UNLINK', KEYS[1]) end
`,
);
