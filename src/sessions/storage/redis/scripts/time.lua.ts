/**
 * The time, and how keys expire.
 *
 * Expects ARGV[1]: the time in epoch ms, or '' for the server's own.
 *
 * Whole numbers are written with `text`, since Lua would round them to 14 digits. `NEVER` is that of the
 * domain. With a time from outside, which the server's clock may outrun, keys are kept an hour longer: what
 * decides is always the stored `expires`, compared with `now`; the server only clears away.
 */
export const TIME = String.raw`
local NEVER = 8640000000000000
local LONGER_MS = 3600000

local function text(number)
  return string.format('%.0f', number)
end

local wall = redis.call('TIME')
wall = wall[1] * 1000 + math.floor(wall[2] / 1000)
local injected = tonumber(ARGV[1])
local now = injected or wall

local function expiresAt(ttl)
  return math.min(math.floor(now + ttl), NEVER)
end

-- When the server removes what expires then.
local function deadline(expiry)
  if injected then return wall + math.max(0, expiry - now) + LONGER_MS end
  return expiry
end

local function expireKeys(keys, expiry)
  for _, key in ipairs(keys) do
    if expiry >= NEVER then
      redis.call('PERSIST', key)
    else
      redis.call('PEXPIREAT', key, text(deadline(expiry)))
    end
  end
end

-- Lets a key live at least until then.
local function outlive(key, expiry, isNew)
  if expiry >= NEVER then
    if not isNew then redis.call('PERSIST', key) end
    return
  end
  local left = redis.call('PTTL', key)
  if isNew or (left >= 0 and wall + left < deadline(expiry)) then
    redis.call('PEXPIREAT', key, text(deadline(expiry)))
  end
end
`;
