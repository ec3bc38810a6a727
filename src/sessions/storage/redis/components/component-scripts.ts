import { ENCODE_ID, KEY_TYPES, TIME } from '../script/base.lua.js';
import { defineScript } from '../script/script.js';

/** Redis gives a script about 8,000 places for the arguments of a command. */
const ITEMS_PER_PUSH = 1_000;
/** Keys are kept longer than their session lives by this part, so that few writes move the expiry of all of them. */
const KEPT_LONGER = 0.1;

/**
 * A session of components.
 *
 * The hash of a session has, under `v:` and `l:` and the name, the head of a value or a list: version, length and digest, one
 * line each; under `t:` and the name the text of a value; under '' when the session expires, and when Redis removes its keys.
 * The items of each list are in a list of their own.
 *
 * KEYS 1 the hash, 2 the sessions of the slot, 3 the expiring ones among them, 4 the prefix of the keys of lists.
 * ARGV 1 time, 2 session.
 *
 * Needs TIME and ENCODE_ID.
 */
const SESSION_OF_COMPONENTS = String.raw`
local times = redis.call('HGET', KEYS[1], '')
local expiry, removal
if times then
  expiry, removal = string.match(times, '^(%d+)\n(%d+)$')
  expiry, removal = tonumber(expiry), tonumber(removal)
end
local isLive = expiry ~= nil and expiry > now

local function headOf(field)
  local head = isLive and redis.call('HGET', KEYS[1], field)
  if not head then return nil end
  local version, length, digest = string.match(head, '^(%d+)\n(%d+)\n(.*)$')
  return { version = tonumber(version), length = tonumber(length), digest = digest }
end

local function listKeys()
  local keys = {}
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    if string.sub(field, 1, 2) == 'l:' then keys[#keys + 1] = KEYS[4] .. encode(string.sub(field, 3)) end
  end
  return keys
end

local function discard()
  for _, key in ipairs(listKeys()) do redis.call('UNLINK', key) end
  redis.call('UNLINK', KEYS[1])
  redis.call('ZREM', KEYS[2], ARGV[2])
  redis.call('ZREM', KEYS[3], ARGV[2])
end

-- Call it after the write. "written" is the key of a list that may be new.
local function setExpiry(ttl, written)
  local isNew = expiry == nil
  local wanted = expiry or NEVER
  if ttl ~= '' then wanted = expiresAt(tonumber(ttl)) end
  if isNew or wanted > removal or (wanted < NEVER and removal >= NEVER) then
    removal = wanted
    if wanted < NEVER then removal = math.min(wanted + math.floor(tonumber(ttl) * ${KEPT_LONGER}), NEVER) end
    local keys = listKeys()
    keys[#keys + 1] = KEYS[1]
    expireKeys(keys, removal)
  elseif written then
    expireKeys({ written }, removal)
  end
  if isNew or wanted ~= expiry then
    redis.call('HSET', KEYS[1], '', text(wanted) .. '\n' .. text(removal))
    local isFirst = redis.call('EXISTS', KEYS[2]) == 0
    local isFirstToExpire = redis.call('EXISTS', KEYS[3]) == 0
    redis.call('ZADD', KEYS[2], 0, ARGV[2])
    extendExpiry(KEYS[2], removal, isFirst)
    if wanted < NEVER then
      redis.call('ZADD', KEYS[3], text(wanted), ARGV[2])
      extendExpiry(KEYS[3], removal, isFirstToExpire)
    else
      redis.call('ZREM', KEYS[3], ARGV[2])
    end
  end
end
`;

/**
 * Reads a value or a list.
 *
 * KEYS and ARGV 1–2: see SESSION_OF_COMPONENTS.
 * ARGV 3 kind (v or l), 4 name, 5 whether to leave out the texts (1 or 0).
 * Returns { head, texts }, or nothing.
 */
export const READ_COMPONENT = defineScript(
  'read-component',
  TIME,
  ENCODE_ID,
  SESSION_OF_COMPONENTS,
  String.raw`
local head = isLive and redis.call('HGET', KEYS[1], ARGV[3] .. ':' .. ARGV[4])
if not head then return false end
if ARGV[5] == '1' then return { head, {} } end
if ARGV[3] == 'v' then return { head, { redis.call('HGET', KEYS[1], 't:' .. ARGV[4]) } } end
return { head, redis.call('LRANGE', KEYS[4] .. encode(ARGV[4]), 0, -1) }
`,
);

/**
 * Writes a value or a list, as `componentWriteOutcome` decides.
 *
 * KEYS and ARGV 1–4: see READ_COMPONENT.
 * ARGV 5 expected version or '', 6 how many texts stay, 7 their digest, 8 the digest of all, 9 ttl or '', then the texts.
 * Returns { whether it was written (1 or 0), the new or the stored version }.
 */
export const WRITE_COMPONENT = defineScript(
  'write-component',
  TIME,
  ENCODE_ID,
  KEY_TYPES,
  SESSION_OF_COMPONENTS,
  String.raw`
local isList = ARGV[3] == 'l'
local field, items = ARGV[3] .. ':' .. ARGV[4], KEYS[4] .. encode(ARGV[4])
local head = headOf(field) or { version = 0, length = 0, digest = '' }
local keep = tonumber(ARGV[6])
local isExpected = ARGV[5] == '' or tonumber(ARGV[5]) == head.version
local fits = keep == 0 or (keep == head.length and ARGV[7] == head.digest)
if not (isExpected and fits) then return { 0, text(head.version) } end

if isList then redis.call('LLEN', items) end
expectSortedSets(KEYS[2], KEYS[3])
if times and not isLive then
  discard()
  expiry, removal = nil, nil
end

local isSame = #ARGV == 9 and head.version > 0 and keep == head.length
local version = text(head.version + (isSame and 0 or 1))
redis.call('HSET', KEYS[1], field, table.concat({ version, text(keep + #ARGV - 9), ARGV[8] }, '\n'))
if isList then
  if keep == 0 then redis.call('UNLINK', items) end
  for first = 10, #ARGV, ${ITEMS_PER_PUSH} do
    redis.call('RPUSH', items, unpack(ARGV, first, math.min(first + ${ITEMS_PER_PUSH - 1}, #ARGV)))
  end
else
  redis.call('HSET', KEYS[1], 't:' .. ARGV[4], ARGV[10])
end
setExpiry(ARGV[9], isList and items)
return { 1, version }
`,
);

/**
 * Removes a session, or value and list of a name.
 *
 * KEYS and ARGV 1–2: see SESSION_OF_COMPONENTS.
 * ARGV 3 whether to remove the whole session (1 or 0), 4 name.
 * Returns nothing.
 */
export const REMOVE_COMPONENTS = defineScript(
  'remove-components',
  TIME,
  ENCODE_ID,
  KEY_TYPES,
  SESSION_OF_COMPONENTS,
  String.raw`
if not times then return end
expectSortedSets(KEYS[2], KEYS[3])
if ARGV[3] == '0' then
  redis.call('HDEL', KEYS[1], 'v:' .. ARGV[4], 'l:' .. ARGV[4], 't:' .. ARGV[4])
  redis.call('UNLINK', KEYS[4] .. encode(ARGV[4]))
end
if ARGV[3] == '1' or not isLive or redis.call('HLEN', KEYS[1]) == 1 then discard() end
`,
);

/**
 * Reads what a session has.
 *
 * KEYS and ARGV 1–2: see SESSION_OF_COMPONENTS.
 * Returns { time, expiry or '', the fields of its hash }.
 */
export const COMPONENT_NAMES = defineScript(
  'component-names',
  TIME,
  ENCODE_ID,
  SESSION_OF_COMPONENTS,
  String.raw`
if not isLive then return { text(math.floor(now)), '', {} } end
return { text(math.floor(now)), text(expiry), redis.call('HKEYS', KEYS[1]) }
`,
);
