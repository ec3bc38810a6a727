import { PARKED } from '../../entry-store.js';
import { COMPARE_BYTES, KEY_TYPES, TIME } from '../script/base.lua.js';
import { defineScript } from '../script/script.js';

/**
 * Entries. The hash has, under space and name, one line each for expiry, stamp, rank and since, then the text. A long text is under
 * the same name after a line break instead, so that who compares an entry does not read it. The names of each space are in two sorted
 * sets: by rank, and those that are not parked by since. A space has no colon: it is encoded.
 *
 * KEYS 1 entries, 2 those that expire.
 * ARGV 1 time.
 *
 * Needs TIME.
 */
export const ENTRY = String.raw`
local PARKED = ${PARKED}
local LONGEST_INLINE = 8192

local function keysOf(space)
  local base = string.match(KEYS[1], '^(.*:)')
  return base .. 'ranks:' .. space, base .. 'waiting:' .. space
end

local function splitField(field)
  return string.match(field, '^([^:]*):(.*)$')
end

-- An entry that has not expired and its stamp, or false and ''.
local function liveEntry(field)
  local entry = redis.call('HGET', KEYS[1], field)
  local expiry, stamp = string.match(entry or '', '^(%d+)\n(%d+)\n')
  if not entry or (expiry and tonumber(expiry) <= now) then return false, '' end
  return entry, stamp
end

local function withText(field, entry)
  if not entry or string.find(entry, '^%d+\n%d+\n%-?%d+\n%-?%d+\n') then return entry end
  return entry .. '\n' .. (redis.call('HGET', KEYS[1], '\n' .. field) or '')
end

local function expiredFields(...)
  return redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', text(math.floor(now)), ...)
end
`;

/**
 * Reads entries.
 *
 * ARGV from 2 on: space and name of each.
 * Returns { now, entry or nothing, ... }.
 */
export const FIND_ENTRIES = defineScript(
  'find-entries',
  TIME,
  ENTRY,
  String.raw`
local found = { text(now) }
for index = 2, #ARGV do found[index] = withText(ARGV[index], (liveEntry(ARGV[index]))) end
return found
`,
);

/**
 * Reads a page of a space.
 *
 * ARGV 2 space, 3 lowest rank, 4 highest rank or 'now', 5 limit; then, if the page follows an entry, 6 its rank, 7 its name.
 * Returns { now, name, entry, ... }.
 */
export const RANGE_ENTRIES = defineScript(
  'range-entries',
  TIME,
  COMPARE_BYTES,
  ENTRY,
  String.raw`
local ranks = keysOf(ARGV[2])
local highest = tonumber(ARGV[4]) or now
local afterRank, afterName = tonumber(ARGV[6]), ARGV[7]

local first = redis.call('ZCOUNT', ranks, '-inf', '(' .. ARGV[3])
local last = afterRank and redis.call('ZCARD', ranks) or first
while first < last do
  local middle = math.floor((first + last) / 2)
  local name, rank = unpack(redis.call('ZRANGE', ranks, middle, middle, 'WITHSCORES'))
  rank = tonumber(rank)
  if rank > afterRank or (rank == afterRank and compareBytes(name, afterName) > 0) then last = middle else first = middle + 1 end
end

local found = { text(now) }
while #found <= 2 * tonumber(ARGV[5]) do
  local name, rank = unpack(redis.call('ZRANGE', ranks, first, first, 'WITHSCORES'))
  if not name or tonumber(rank) > highest then break end
  local field = ARGV[2] .. ':' .. name
  local entry = liveEntry(field)
  if entry then
    found[#found + 1] = name
    found[#found + 1] = withText(field, entry)
  end
  first = first + 1
end
return found
`,
);

/**
 * Counts a space.
 *
 * ARGV 2 space.
 * Returns { now, waiting, the earliest since of them or nothing, parked }.
 */
export const COUNT_ENTRIES = defineScript(
  'count-entries',
  TIME,
  ENTRY,
  String.raw`
local ranks, waiting = keysOf(ARGV[2])
local waits = redis.call('ZCARD', waiting)
local parked = redis.call('ZCARD', ranks) - waits
local expired, isExpired = 0, {}
for _, field in ipairs(expiredFields()) do
  local space, name = splitField(field)
  if space == ARGV[2] then
    if redis.call('ZSCORE', waiting, name) then
      expired = expired + 1
      isExpired[name] = true
    else
      parked = parked - 1
    end
  end
end
local oldest = redis.call('ZRANGE', waiting, 0, expired, 'WITHSCORES')
local place = 1
while isExpired[oldest[place]] do place = place + 2 end
return { text(now), waits - expired, oldest[place + 1] or false, parked }
`,
);

/**
 * Removes expired entries, which are as good as absent, then compares and writes.
 *
 * ARGV 2 how many expired entries to remove, 3 the command that tells consumers of the news, or ''; then of each write: space and name,
 *      expected stamp or '', new stamp or 'same' or '', rank, since, ttl, text.
 * Returns { now }, or { now, entry or nothing, ... } if one is not as expected.
 */
export const WRITE_ENTRIES = defineScript(
  'write-entries',
  TIME,
  KEY_TYPES,
  ENTRY,
  String.raw`
for _, field in ipairs(expiredFields('LIMIT', 0, ARGV[2])) do
  local space, name = splitField(field)
  redis.call('HDEL', KEYS[1], field, '\n' .. field)
  redis.call('ZREM', KEYS[2], field)
  for _, key in ipairs({ keysOf(space) }) do redis.pcall('ZREM', key, name) end
end

local found, isExpected = { text(now) }, true
for index = 4, #ARGV, 7 do
  local entry, stamp = liveEntry(ARGV[index])
  expectSortedSets(keysOf((splitField(ARGV[index]))))
  found[#found + 1] = entry
  isExpected = isExpected and stamp == ARGV[index + 1]
end
if not isExpected then
  for index = 2, #found do found[index] = withText(ARGV[7 * index - 10], found[index]) end
  return found
end

local function timeOf(time)
  local inMs = string.match(time, '^%+(.*)$')
  return inMs and text(math.floor(now + inMs)) or time
end

local function put(key, expiry, command, ...)
  local isNew = redis.call('EXISTS', key) == 0
  redis.call(command, key, ...)
  extendExpiry(key, expiry, isNew)
end

for index = 4, #ARGV, 7 do
  local field, _, stamp, rank, since, ttl, content = unpack(ARGV, index, index + 6)
  local space, name = splitField(field)
  local ranks, waiting = keysOf(space)
  local expiry = NEVER
  if stamp == '' then
    redis.call('HDEL', KEYS[1], field, '\n' .. field)
    redis.call('ZREM', ranks, name)
  elseif stamp ~= 'same' then
    expiry = expiresAt(tonumber(ttl))
    rank, since = timeOf(rank), timeOf(since)
    local lines = table.concat({ text(expiry), stamp, rank, since }, '\n')
    if #content > LONGEST_INLINE then
      put(KEYS[1], expiry, 'HSET', field, lines, '\n' .. field, content)
    else
      put(KEYS[1], expiry, 'HSET', field, lines .. '\n' .. content)
      redis.call('HDEL', KEYS[1], '\n' .. field)
    end
    put(ranks, expiry, 'ZADD', rank, name)
  end
  if stamp ~= 'same' then
    redis.call('ZREM', waiting, name)
    redis.call('ZREM', KEYS[2], field)
    if stamp ~= '' and tonumber(rank) ~= PARKED then put(waiting, expiry, 'ZADD', since, name) end
    if expiry < NEVER then put(KEYS[2], expiry, 'ZADD', text(expiry), field) end
  end
end
if ARGV[3] ~= '' then redis.pcall(ARGV[3], KEYS[1], '') end
return { text(now) }
`,
);
