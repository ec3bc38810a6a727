import { UNCOUNTED } from '../../../domain/stored/state-size.js';

/** The expiry in the field '' of shared state. */
export const EXPIRY_IN_HEAD = String.raw`
local function expiryIn(head)
  return tonumber(string.match(head or '', '^%d+'))
end
`;

/**
 * The state of a user or an app: a hash with one field per key. The field '' holds its expiry, and how many bytes the others have
 * at most; no key has that name. Needs TIME.
 */
export const SHARED_STATE =
  EXPIRY_IN_HEAD +
  String.raw`
-- Redis counts UNLINK as a write even if the key is missing. After its first write Redis no longer stops a script for
-- lack of memory, so this checks first.
local function unlinkIfPresent(...)
  if redis.call('EXISTS', ...) > 0 then redis.call('UNLINK', ...) end
end

-- State that a repair gave an expiry was not counted.
local function bytesIn(head)
  return tonumber(string.match(head, ' (%d+)$')) or ${UNCOUNTED}
end

-- The expiry of state that exists and has not expired, and its bytes.
local function expiryOfState(key)
  local head = redis.call('HGET', key, '')
  local expiry = expiryIn(head)
  if expiry and expiry > now then return expiry, bytesIn(head) end
  return nil, 0
end

-- Alternating names and values, with the head under ''; the expiry and the bytes. Empty if the state has expired.
local function readState(key)
  local entries = redis.call('HGETALL', key)
  for index = 1, #entries, 2 do
    if entries[index] == '' then
      local expiry = expiryIn(entries[index + 1])
      if expiry > now then return entries, expiry, bytesIn(entries[index + 1]) end
    end
  end
  return {}, nil, 0
end

-- The bytes of keys and values, without the head.
local function bytesOfState(entries)
  local bytes = 0
  for index = 1, #entries, 2 do
    if entries[index] ~= '' then bytes = bytes + #entries[index] + #entries[index + 1] end
  end
  return bytes
end

-- The bytes before and after the writes. State that has expired has none.
local function bytesAround(key, expiry, writes)
  local entries = expiry and redis.call('HGETALL', key) or {}
  local before = bytesOfState(entries)
  local values = {}
  for index = 1, #entries, 2 do values[entries[index]] = entries[index + 1] end
  local after = before
  for index = 1, #writes.sets, 2 do
    local name, value = writes.sets[index], writes.sets[index + 1]
    after = after + #value + (values[name] and -#values[name] or #name)
  end
  for _, name in ipairs(writes.removals) do
    if values[name] then after = after - #name - #values[name] end
  end
  return before, after
end

-- The bytes after the writes, if they are more than allowed and more than before.
local function excessAfter(key, expiry, writes, most)
  if not most or #writes.sets == 0 then return end
  local before, after = bytesAround(key, expiry, writes)
  if after > most and after > before then return after end
end

local function renewState(key, expiry, bytes)
  redis.call('HSET', key, '', text(expiry) .. ' ' .. text(bytes))
  expireKeys({ key }, expiry)
end

local function isEmpty(writes)
  return #writes.sets + #writes.removals == 0
end

local function writeEntries(key, writes)
  for first = 1, #writes.sets, 2000 do
    redis.call('HSET', key, unpack(writes.sets, first, math.min(first + 1999, #writes.sets)))
  end
  for _, name in ipairs(writes.removals) do redis.call('HDEL', key, name) end
end

-- The caller reads the current expiry and bytes before the first write of the script. Without writes, this only renews the
-- state. Returns the new expiry if the state is new or now expires earlier.
local function writeState(key, expiry, bytes, writes, ttl, renewBelow)
  if isEmpty(writes) then
    if expiry and expiry - now < renewBelow then renewState(key, expiresAt(ttl), bytes) end
    return nil
  end
  if not expiry then unlinkIfPresent(key) end
  if not expiry and #writes.sets == 0 then return nil end
  writeEntries(key, writes)
  local fields = redis.call('HLEN', key)
  if fields == 0 or (fields == 1 and expiry) then
    redis.call('UNLINK', key)
    return nil
  end
  for _, part in ipairs(writes.sets) do bytes = bytes + #part end
  local newExpiry = expiresAt(ttl)
  renewState(key, newExpiry, math.min(bytes, ${UNCOUNTED}))
  if newExpiry < (expiry or NEVER) then return newExpiry end
end
`;

/**
 * The registry: the apps, and the users of an app. Users are sorted by the time at which something of theirs may
 * expire, which is never too late. Needs TIME.
 *
 * A script reads the registry before its first write.
 *
 * A purge claims a user with a score that is no whole number. A registration in the meantime overwrites the claim, so
 * the purge cannot remove a user who came back.
 */
export const REGISTRY = String.raw`
local function registeredDue(users, userId)
  return tonumber(redis.call('ZSCORE', users, userId))
end

local function registerUser(users, userId, registered, due, untilTime)
  local isNew = not registered and redis.call('EXISTS', users) == 0
  local wanted = math.min(due, registered and math.floor(registered) or due)
  if wanted ~= registered then redis.call('ZADD', users, text(wanted), userId) end
  extendExpiry(users, untilTime, isNew)
end

local function isFirstApp(apps)
  return redis.call('ZCARD', apps) == 0
end

local function registerApp(apps, appName, isFirst, untilTime)
  redis.call('ZADD', apps, 0, appName)
  extendExpiry(apps, untilTime, isFirst)
end
`;

/** Counts the state of a session without reading its values. */
export const STATE_BYTES = String.raw`
local function countState(key)
  local bytes = 0
  for _, name in ipairs(redis.call('HKEYS', key)) do bytes = bytes + #name + redis.call('HSTRLEN', key, name) end
  return bytes
end
`;
