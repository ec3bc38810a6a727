import { LONGEST_DELAY_MS } from '../../../domain/coordination-rules.js';
import { KEY_TYPES, TIME } from '../script/base.lua.js';
import { defineScript } from '../script/script.js';

/** The keys of a consumer expire 800 days after its last work, like the agenda. Needs TIME. */
const KEEP = String.raw`
local function keep(keys)
  expireKeys(keys, expiresAt(${2 * LONGEST_DELAY_MS}))
end
`;

/** A work entry. Its lines are: seq, upTo, since, tries, claim, problem. */
const WORK_ENTRY = String.raw`
local function workOf(value)
  local seq, upTo, since, tries, claim, problem =
    string.match(value, '^(%d+)\n(%d+)\n(%d+)\n(%d+)\n([^\n]*)\n(.*)$')
  return {
    seq = tonumber(seq), upTo = tonumber(upTo), since = since, tries = tonumber(tries), claim = claim, problem = problem,
  }
end

local function textOfWork(work)
  local seq, upTo = string.format('%.0f', work.seq), string.format('%.0f', work.upTo)
  return table.concat({ seq, upTo, work.since, string.format('%.0f', work.tries), work.claim, work.problem }, '\n')
end
`;

/**
 * Registers a consumer, unless there is one.
 *
 * KEYS 1 consumers.
 * ARGV 1 time, 2 name, 3 settings.
 * Returns the stored consumer.
 */
export const REGISTER_CONSUMER = defineScript(
  'register-consumer',
  TIME,
  KEEP,
  String.raw`
local stored = redis.call('HGET', KEYS[1], ARGV[2])
if not stored then
  stored = text(math.floor(now)) .. '\n' .. ARGV[3]
  redis.call('HSET', KEYS[1], ARGV[2], stored)
end
keep({ KEYS[1] })
return stored
`,
);

/**
 * Reads all consumers.
 *
 * KEYS 1 consumers.
 * ARGV 1 time.
 * Returns alternating name and stored consumer.
 */
export const LIST_CONSUMERS = defineScript('list-consumers', `return redis.call('HGETALL', KEYS[1])`);

/**
 * Removes work of a consumer, then the consumer.
 *
 * KEYS 1 due, 2 waiting, 3 work, 4 dead, of the consumer; 5 consumers.
 * ARGV 1 time, 2 name, 3 how many entries to remove at most.
 * Returns whether all is removed (1 or 0).
 */
export const REMOVE_CONSUMER = defineScript(
  'remove-consumer',
  KEY_TYPES,
  String.raw`
expectHashes(KEYS[3], KEYS[5])
expectSortedSets(KEYS[1], KEYS[2], KEYS[4])
for _, key in ipairs({ KEYS[1], KEYS[4] }) do
  for _, member in ipairs(redis.call('ZRANGE', key, 0, tonumber(ARGV[3]) - 1)) do
    redis.call('ZREM', key, member)
    redis.call('ZREM', KEYS[2], member)
    redis.call('HDEL', KEYS[3], member)
  end
end
if redis.call('ZCARD', KEYS[1]) + redis.call('ZCARD', KEYS[4]) > 0 then return 0 end
redis.call('UNLINK', KEYS[2], KEYS[3])
redis.call('HDEL', KEYS[5], ARGV[2])
return 1
`,
);

/**
 * Adds work, unless a dispatcher with a higher token has added some.
 *
 * KEYS 1 consumers, 2 highest token of a dispatcher; then of each consumer: due, waiting, work.
 * ARGV 1 time, 2 token, 3 name of a consumer with new settings ('' = none), 4 its expected settings, 5 its new settings,
 *      6 whether it is a cluster (1 or 0); then for each entry: index of the consumer, member, seq, upTo, since.
 * Returns whether it was done (1 or 0).
 */
export const DISPATCH_WORK = defineScript(
  'dispatch-work',
  TIME,
  KEEP,
  KEY_TYPES,
  WORK_ENTRY,
  String.raw`
local token = tonumber(ARGV[2])
local highest = tonumber(redis.call('GET', KEYS[2])) or 0
if token < highest then return 0 end
local registered
if ARGV[3] ~= '' then
  local stored = redis.call('HGET', KEYS[1], ARGV[3])
  registered = stored and string.match(stored, '^%d+')
  if not registered or string.sub(stored, #registered + 2) ~= ARGV[4] then return 0 end
end
for index = 3, #KEYS, 3 do
  expectSortedSets(KEYS[index], KEYS[index + 1])
  expectHashes(KEYS[index + 2])
end

redis.call('SET', KEYS[2], text(token))
if registered then redis.call('HSET', KEYS[1], ARGV[3], registered .. '\n' .. ARGV[5]) end
for index = 7, #ARGV, 5 do
  local first = 3 + 3 * tonumber(ARGV[index])
  local due, waiting, entries = KEYS[first], KEYS[first + 1], KEYS[first + 2]
  local member, seq, upTo, since = unpack(ARGV, index + 1, index + 4)
  local stored = redis.call('HGET', entries, member)
  if stored then
    local work = workOf(stored)
    work.upTo = tonumber(upTo)
    redis.call('HSET', entries, member, textOfWork(work))
  else
    local work = { seq = tonumber(seq), upTo = tonumber(upTo), since = since, tries = 0, claim = '', problem = '' }
    redis.call('HSET', entries, member, textOfWork(work))
    redis.call('ZADD', due, text(math.floor(now)), member)
    redis.call('ZADD', waiting, since, member)
  end
end
keep(KEYS)
if #ARGV > 6 then redis.pcall(ARGV[6] == '1' and 'SPUBLISH' or 'PUBLISH', KEYS[1], '') end
return 1
`,
);

/**
 * Claims work that is due, as claimedEntry decides.
 *
 * KEYS 1 due, 2 work.
 * ARGV 1 time, 2 claim, 3 limit, 4 until when, in ms from now.
 * Returns alternating member and entry.
 */
export const CLAIM_WORK = defineScript(
  'claim-work',
  TIME,
  KEY_TYPES,
  WORK_ENTRY,
  String.raw`
-- As nextClaim decides. Returns the claim, and how many tries its last worker has lost.
local function nextClaim(last, id)
  local mark, rest = string.match(last, '^(%a+:)(.*)$')
  if last == '' or rest == '' then return last .. id, 0 end
  if mark == 'begun:' then return 'alone:' .. id, 1 end
  return (mark and 'alone:' or 'suspect:') .. id, 0
end

local members = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(math.floor(now)), 'LIMIT', 0, ARGV[3])
expectHashes(KEYS[2])
local claimed = {}
for _, member in ipairs(members) do
  local stored = redis.call('HGET', KEYS[2], member)
  if stored then
    local work = workOf(stored)
    local claim, lost = nextClaim(work.claim, ARGV[2])
    work.claim, work.tries = claim, work.tries + lost
    local changed = textOfWork(work)
    redis.call('HSET', KEYS[2], member, changed)
    redis.call('ZADD', KEYS[1], text(expiresAt(tonumber(ARGV[4]))), member)
    claimed[#claimed + 1] = member
    claimed[#claimed + 1] = changed
  else
    redis.call('ZREM', KEYS[1], member)
  end
end
return claimed
`,
);

/**
 * Saves the progress of a claimed entry, as entryAfter decides, and stores a dead letter.
 *
 * KEYS 1 due, 2 waiting, 3 work, 4 dead.
 * ARGV 1 time, 2 member, 3 claim, 4 seq, 5 tries, 6 problem, 7 the claim from now on, or nothing, 8 when the entry is due again, in ms
 *      from now; with a letter: 9 its member, 10 seq, 11 upTo, 12 tries, 13 problem.
 * Returns { 'lost' or 'done' } or { 'left', upTo }.
 */
export const NOTE_WORK = defineScript(
  'note-work',
  TIME,
  KEEP,
  KEY_TYPES,
  WORK_ENTRY,
  String.raw`
local stored = redis.call('HGET', KEYS[3], ARGV[2])
local work = stored and workOf(stored)
if not work or work.claim ~= ARGV[3] then return { 'lost' } end
expectSortedSets(KEYS[1], KEYS[2], KEYS[4])

local outcome
if tonumber(ARGV[4]) >= work.upTo then
  outcome = { 'done' }
  redis.call('ZREM', KEYS[1], ARGV[2])
  redis.call('ZREM', KEYS[2], ARGV[2])
  redis.call('HDEL', KEYS[3], ARGV[2])
else
  outcome = { 'left', text(work.upTo) }
  work.seq, work.tries, work.problem = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
  work.claim = ARGV[7]
  redis.call('HSET', KEYS[3], ARGV[2], textOfWork(work))
  redis.call('ZADD', KEYS[1], text(expiresAt(tonumber(ARGV[8]))), ARGV[2])
end
if ARGV[9] then
  local letter = {
    seq = tonumber(ARGV[10]), upTo = tonumber(ARGV[11]), since = work.since,
    tries = tonumber(ARGV[12]), claim = '', problem = ARGV[13],
  }
  redis.call('ZREM', KEYS[1], ARGV[9])
  redis.call('ZREM', KEYS[2], ARGV[9])
  redis.call('HSET', KEYS[3], ARGV[9], textOfWork(letter))
  redis.call('ZADD', KEYS[4], text(math.floor(now)), ARGV[9])
  -- A set that was empty has lost its expiry.
  keep({ KEYS[3], KEYS[4] })
end
return outcome
`,
);

/**
 * Reads dead letters, the oldest first.
 *
 * KEYS 1 dead, 2 work.
 * ARGV 1 time, 2 limit.
 * Returns alternating member and entry.
 */
export const DEAD_LETTERS = defineScript(
  'dead-letters',
  String.raw`
local found = {}
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, tonumber(ARGV[2]) - 1)) do
  found[#found + 1] = member
  found[#found + 1] = redis.call('HGET', KEYS[2], member) or ''
end
return found
`,
);

/**
 * Makes a dead letter due, as revivedLetter decides, or removes it.
 *
 * KEYS 1 due, 2 waiting, 3 work, 4 dead.
 * ARGV 1 time, 2 member, 3 retry or drop.
 * Returns whether it was a dead letter (1 or 0).
 */
export const RESOLVE_LETTER = defineScript(
  'resolve-letter',
  TIME,
  KEEP,
  KEY_TYPES,
  WORK_ENTRY,
  String.raw`
local stored = redis.call('HGET', KEYS[3], ARGV[2])
expectSortedSets(KEYS[1], KEYS[2])
if redis.call('ZREM', KEYS[4], ARGV[2]) == 0 or not stored then return 0 end
if ARGV[3] == 'drop' then
  redis.call('HDEL', KEYS[3], ARGV[2])
else
  local letter = workOf(stored)
  letter.tries = 0
  redis.call('HSET', KEYS[3], ARGV[2], textOfWork(letter))
  redis.call('ZADD', KEYS[1], text(math.floor(now)), ARGV[2])
  redis.call('ZADD', KEYS[2], letter.since, ARGV[2])
  keep({ KEYS[1], KEYS[2] })
end
return 1
`,
);

/**
 * Reads how much waits for a consumer.
 *
 * KEYS 1 waiting, 2 dead.
 * ARGV 1 time.
 * Returns { entries, since when the oldest waits or nothing, dead letters, now }.
 */
export const CONSUMER_LAG = defineScript(
  'consumer-lag',
  TIME,
  String.raw`
local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
return { redis.call('ZCARD', KEYS[1]), oldest or false, redis.call('ZCARD', KEYS[2]), text(now) }
`,
);
