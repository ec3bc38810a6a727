/**
 * State that sessions share: a hash with a field for each key, and its expiry in the field '', which is no
 * key's name. Needs TIME.
 */
export const SHARED_STATE = String.raw`
-- A removal counts as a write even where nothing is there, and after its first write a script is not stopped any more
-- for lack of memory.
local function clearAway(...)
  if redis.call('EXISTS', ...) > 0 then redis.call('UNLINK', ...) end
end

-- When the state expires, if it is there.
local function expiryOfState(key)
  local expiry = tonumber(redis.call('HGET', key, ''))
  return expiry and expiry > now and expiry or nil
end

-- Names and values in turn, the expiry under ''; nothing where it expired.
local function readState(key)
  return expiryOfState(key) and redis.call('HGETALL', key) or {}
end

local function renewState(key, expiry)
  redis.call('HSET', key, '', text(expiry))
  expireKeys({ key }, expiry)
end

local function touchState(key, ttl)
  if expiryOfState(key) then renewState(key, expiresAt(ttl)) end
end

local function writeEntries(key, writes)
  for index = 1, #writes.sets, 2 do
    redis.call('HSET', key, writes.sets[index], writes.sets[index + 1])
  end
  for _, name in ipairs(writes.removals) do redis.call('HDEL', key, name) end
end

-- Without anything to write, the state is only kept alive. Answers when it expires, if it is new or expires earlier
-- than before.
local function writeState(key, writes, ttl, renewBelow)
  local expiry = expiryOfState(key)
  if #writes.sets + #writes.removals == 0 then
    if expiry and expiry - now < renewBelow then renewState(key, expiresAt(ttl)) end
    return nil
  end
  if not expiry then clearAway(key) end
  if not expiry and #writes.sets == 0 then return nil end
  writeEntries(key, writes)
  local fields = redis.call('HLEN', key)
  if fields == 0 or (fields == 1 and expiry) then
    redis.call('UNLINK', key)
    return nil
  end
  local newExpiry = expiresAt(ttl)
  if newExpiry ~= expiry then renewState(key, newExpiry) end
  if newExpiry < (expiry or NEVER) then return newExpiry end
end
`;
