/**
 * Time and key expiry.
 *
 * ARGV 1: the time in epoch ms, or '' for the clock of the server.
 *
 * `text` formats whole numbers, because Lua would round them to 14 digits. `NEVER` has the value that the domain uses.
 * With an injected clock, Redis keeps keys an hour longer than needed, because its own clock may run ahead. Only the
 * stored `expires` field, compared with `now`, decides what has expired; Redis only frees the memory.
 */
export const TIME = String.raw`
local NEVER = 8640000000000000
local EXTRA_MS = 3600000

local function text(number)
  return string.format('%.0f', number)
end

local serverTime = redis.call('TIME')
local microseconds = serverTime[2] % 1000
serverTime = serverTime[1] * 1000 + math.floor(serverTime[2] / 1000)
local injected = tonumber(ARGV[1])
local now = injected or serverTime

local function expiresAt(ttl)
  return math.min(math.floor(now + ttl), NEVER)
end

-- When Redis removes a key with this expiry.
local function removalTime(expiry)
  if injected then return serverTime + math.max(0, expiry - now) + EXTRA_MS end
  return expiry
end

local function expireKeys(keys, expiry)
  for _, key in ipairs(keys) do
    if expiry >= NEVER then
      redis.call('PERSIST', key)
    else
      redis.call('PEXPIREAT', key, text(removalTime(expiry)))
    end
  end
end

-- Sets the expiry of a key, but never to an earlier time than it has.
local function extendExpiry(key, expiry, isNew)
  if expiry >= NEVER then
    if not isNew then redis.call('PERSIST', key) end
    return
  end
  local left = redis.call('PTTL', key)
  if isNew or (left >= 0 and serverTime + left < removalTime(expiry)) then
    redis.call('PEXPIREAT', key, text(removalTime(expiry)))
  end
end
`;

/** Reads arguments one after the other, from the fifth on. Scripts read the first four by their index. */
export const ARGUMENTS = String.raw`
local position = 4

local function take()
  position = position + 1
  return ARGV[position]
end

local function takeNumber()
  return tonumber(take())
end

-- Number of upserts, then name and value of each; number of removals, then the name of each.
local function takeWrites()
  local writes = { sets = {}, removals = {} }
  for index = 1, 2 * takeNumber() do writes.sets[index] = take() end
  for index = 1, takeNumber() do writes.removals[index] = take() end
  return writes
end
`;

/** Encodes an id as a part of a key, exactly as `encodeId` does. */
export const ENCODE_ID = String.raw`
local function encodeCharacter(character)
  return string.format('%%%02X', string.byte(character))
end

local function encode(id)
  return (string.gsub(id, "[^A-Za-z0-9%-_%.!~'%(%)]", encodeCharacter))
end
`;

/**
 * Checks the types of keys. Scripts do not roll back, so they check every key before the first write. Reading a key
 * already checks its type; this function checks keys that a script only writes.
 */
export const KEY_TYPES = String.raw`
local function expectSortedSets(...)
  for _, key in ipairs({ ... }) do redis.call('ZCARD', key) end
end
`;

export const COMPARE_BYTES = String.raw`
-- Lua's own comparison follows the server's locale.
local function compareBytes(a, b)
  for index = 1, math.min(#a, #b) do
    local difference = string.byte(a, index) - string.byte(b, index)
    if difference ~= 0 then return difference end
  end
  return #a - #b
end
`;
