import { script } from './script.js';
import { TIME } from './time.lua.js';

/** Needs TIME. */
const LEASE = String.raw`
local function isHeld(expiry)
  return expiry and tonumber(expiry) > now
end

-- Whether the lease is still that of the token.
local function isHeldWith(token)
  local lease = redis.call('HMGET', KEYS[1], 'token', 'expires')
  return lease[1] == token and isHeld(lease[2])
end
`;

/**
 * Takes a lease that nobody holds.
 *
 * A token is the server's time in microseconds, or one more than the last one where that is higher. So tokens
 * grow also where data was lost; and the last token is kept until that time lies a day back, so that they
 * grow also where the server's clock goes back, or a replica whose clock is behind takes over.
 *
 * KEYS 1 the lease, 2 the last token of all leases.
 * ARGV 1 time, 2 holder, 3 ttl.
 * Result: { token, when it expires }, or nothing where it is held.
 */
export const ACQUIRE_LEASE = script(
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
 * Lets a lease live longer that is still held.
 *
 * KEYS 1 the lease.
 * ARGV 1 time, 2 token, 3 ttl.
 * Result: when it expires, or nothing where it is over.
 */
export const RENEW_LEASE = script(
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
 * Gives a lease back that is still held.
 *
 * KEYS 1 the lease.
 * ARGV 1 time, 2 token.
 * Result: nothing.
 */
export const RELEASE_LEASE = script(
  'release-lease',
  TIME,
  LEASE,
  String.raw`
if isHeldWith(ARGV[2]) then redis.call('UNLINK', KEYS[1]) end
`,
);
