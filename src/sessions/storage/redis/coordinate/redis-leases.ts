import type { AnyLeaseRequest, Lease, LeaseRequest, LeaseStore } from '../../coordination.js';
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
    return this.acquireAny({ names: [name], holder, ttlMs });
  }

  async acquireAny({ names, atMost = names.length, holder, ttlMs }: AnyLeaseRequest): Promise<Lease | undefined> {
    const reply = await this.scripts.write<readonly [place: number, token: string, expiresAt: string] | null>(
      ACQUIRE_LEASE,
      {
        keys: [this.keys.lastLeaseToken, ...names.map((name) => this.keys.lease(name))],
        args: [holder, ttlMs, atMost],
      },
    );
    if (!reply) return undefined;
    const [place, token, expiresAt] = reply;
    return { name: names[place - 1] ?? '', holder, token: Number(token), expiresAt: Number(expiresAt) };
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
 * Acquires the first lease that is free.
 *
 * The token is the server time in microseconds, or the last token plus one if that is higher. So tokens grow even after
 * a loss of data. The last token is kept until a day after the time that it encodes. So tokens also grow if the clock of
 * the server goes back, or a replica whose clock is behind takes over.
 *
 * KEYS 1 last token of all leases, from 2 on leases.
 * ARGV 1 time, 2 holder, 3 ttl, 4 how many may be held.
 * Returns { which lease, token, expiry }, or nothing if too many are held.
 */
export const ACQUIRE_LEASE = defineScript(
  'acquire-lease',
  TIME,
  LEASE,
  String.raw`
local KEPT_MS = 86400000
local most = tonumber(ARGV[4])
local held = 0
local free
for place = 2, #KEYS do
  if isHeld(redis.call('HGET', KEYS[place], 'expires')) then
    held = held + 1
  else
    free = free or place
    -- The others need not be counted.
    if most == #KEYS - 1 then break end
  end
end
if not free or held >= most then return false end

local time = redis.call('TIME')
local last = tonumber(redis.call('GET', KEYS[1])) or 0
local token = math.max(time[1] * 1000000 + time[2], last + 1)
redis.call('SET', KEYS[1], text(token), 'PXAT', text(math.floor(token / 1000) + KEPT_MS))

local expiry = expiresAt(tonumber(ARGV[3]))
redis.call('HSET', KEYS[free], 'token', text(token), 'holder', ARGV[2], 'expires', text(expiry))
expireKeys({ KEYS[free] }, expiry)
return { free - 1, text(token), text(expiry) }
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
