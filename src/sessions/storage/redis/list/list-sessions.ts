import { compareBytes } from '../../../domain/byte-order.js';
import { MAX_ID_BYTES, type StateOwner } from '../../../domain/ids.js';
import { comparePositions, positionOf } from '../../list-order.js';
import type { ListPosition, ListRequest, ListResult } from '../../session-storage.js';
import type { AppScope, ListPage } from '../app-scope/app-scope.js';
import type { RedisKeys } from '../redis-keys.js';
import { ENCODE_ID, TIME } from '../script/base.lua.js';
import { type FlatHash, type RecordReply, flag, optional, pairsOf, recordOf, sharedStateOf } from '../script/codec.js';
import { type ScriptRunner, defineScript } from '../script/script.js';
import { RECORD_FIELDS, SHARED_STATE } from '../script/session.lua.js';

/** On a cluster: how many users' lists are read at the same time. */
const USERS_PER_BATCH = 100;

type ListReply = readonly [
  now: string,
  total: number | null,
  appState: FlatHash,
  users: readonly (readonly [userId: string, state: FlatHash])[],
  sessions: readonly (readonly [
    userId: string,
    sessionId: string,
    record: RecordReply,
    state: FlatHash,
    pending: FlatHash,
    metadata: string | null,
  ])[],
  readAt: string,
];

/** Lists the sessions of a user or of an app. */
export async function listSessions(
  scripts: ScriptRunner,
  keys: RedisKeys,
  app: AppScope,
  request: ListRequest,
): Promise<ListResult> {
  return app.completeList(request.appName, await readList(scripts, keys, app, request));
}

function readList(scripts: ScriptRunner, keys: RedisKeys, app: AppScope, request: ListRequest): Promise<ListPage> {
  const { appName, userId } = request;
  if (userId === undefined && app.isCluster) return mergeUserLists(scripts, keys, request);
  return readPage(scripts, request, [
    ...keys.indexesOf({ appName, userId }),
    userId === undefined ? keys.baseOfUsers(appName) : keys.baseOfUser(appName, userId),
    ...(app.isCluster ? [] : [keys.stateOf({ appName })]),
  ]);
}

/**
 * On a cluster: merges the lists of all users of an app. Any user's list may fill the whole page, so each is read up
 * to the end of the page.
 */
async function mergeUserLists(scripts: ScriptRunner, keys: RedisKeys, request: ListRequest): Promise<ListPage> {
  const { appName, limit, offset = 0, withTotal } = request;
  const whole = { ...request, limit: offset + limit, offset: 0 };
  let merged: ListPage = { result: { sessions: [], total: 0 }, pending: [] };
  for (let first = 0; ; first += USERS_PER_BATCH) {
    const users = await scripts.read<string[]>(LIST_USERS, {
      keys: [keys.usersOf(appName)],
      args: [first, first + USERS_PER_BATCH - 1],
    });
    const pages = await Promise.all(
      users.map((userId) =>
        readPage(scripts, { ...whole, userId }, [
          ...keys.indexesOf({ appName, userId }),
          keys.baseOfUser(appName, userId),
        ]),
      ),
    );
    merged = mergePages(request, offset + limit, [merged, ...pages]);
    if (users.length < USERS_PER_BATCH) break;
  }
  const { sessions, total } = merged.result;
  return {
    result: { sessions: sessions.slice(offset), ...(withTotal && { total: total ?? 0 }) },
    pending: merged.pending,
  };
}

function mergePages(request: ListRequest, limit: number, pages: readonly ListPage[]): ListPage {
  const sessions = pages
    .flatMap(({ result }) => result.sessions)
    .toSorted((a, b) => comparePositions(positionOf(a.record, request), positionOf(b.record, request), request))
    .slice(0, limit);
  const total = pages.reduce((sum, { result }) => sum + (result.total ?? 0), 0);
  return { result: { sessions, total }, pending: pages.flatMap(({ pending }) => pending) };
}

/** Reads one page with one script. On a cluster the state of the app is missing from it. */
async function readPage(
  scripts: ScriptRunner,
  request: ListRequest,
  [byUpdate = '', byCreation = '', expiring = '', ...others]: readonly string[],
): Promise<ListPage> {
  const { appName, orderBy, order, limit, offset = 0, after, withTotal } = request;
  const sorted = orderBy === 'createTime' ? byCreation : byUpdate;
  const [, total, appState, users, sessions, readAt] = await scripts.read<ListReply>(LIST_SESSIONS, {
    keys: [sorted, expiring, ...others],
    args: [
      optional(request.userId),
      order,
      limit,
      offset,
      optional(after?.time),
      after ? memberOf(request, after) : '',
      flag(withTotal),
      flag(request.withState !== false),
    ],
  });
  const app = sharedStateOf(appState).entries;
  const userStates = new Map(users.map(([userId, state]) => [userId, sharedStateOf(state).entries]));
  const listed = sessions.map(([userId, sessionId, record, state, , metadata]) => ({
    record: recordOf({ appName, userId, sessionId }, record),
    metadata: metadata ?? '',
    state: { session: pairsOf(state), user: userStates.get(userId) ?? [], app },
  }));
  const pending = sessions
    .filter(({ 4: fields }) => fields.length > 0)
    .map(([userId, sessionId, record, , fields]) => ({
      key: { appName, userId, sessionId },
      incarnation: record[0] ?? '',
      pending: fields,
      readAt,
    }));
  return { result: { sessions: listed, ...(withTotal && { total: Number(total) }) }, pending };
}

/** Sorts after every id. */
const AFTER_ALL_IDS = '\u{10FFFF}'.repeat(MAX_ID_BYTES);

/** The index member of the cursor. In a user's index, a cursor of another user comes before or after all members. */
function memberOf({ userId }: StateOwner, after: ListPosition): string {
  if (userId === undefined) return `${after.userId}\u0000${after.sessionId}`;
  const order = compareBytes(after.userId, userId);
  if (order === 0) return after.sessionId;
  return order < 0 ? '' : AFTER_ALL_IDS;
}

/**
 * Reads a page of the sessions of a user or an app, with their state.
 *
 * KEYS 1 sessions by time, 2 expiring sessions, 3 prefix of the user's keys, or for an app the prefix that the keys of
 *      all its users share, 4 app state (not on a cluster).
 *      The script finds the keys of sessions through the indexes, so the caller cannot name them.
 * ARGV 1 time, 2 user id ('' = the whole app), 3 desc or asc, 4 limit, 5 offset, 6 time of the cursor ('' = from the
 *      start), 7 member of the cursor, 8 with total (1 or 0), 9 with state (1 or 0).
 * Returns { now, total, app state, { user id, user state } …, { user id, session id, record, state, pending, metadata or nothing } …,
 *      server time }.
 */
export const LIST_SESSIONS = defineScript(
  'list-sessions',
  TIME,
  ENCODE_ID,
  RECORD_FIELDS,
  SHARED_STATE,
  String.raw`
local USER_ID, isBackwards, limit, offset = ARGV[2], ARGV[3] == 'desc', tonumber(ARGV[4]), tonumber(ARGV[5])

-- Lua's own comparison follows the server's locale.
local function compareBytes(a, b)
  for index = 1, math.min(#a, #b) do
    local difference = string.byte(a, index) - string.byte(b, index)
    if difference ~= 0 then return difference end
  end
  return #a - #b
end

-- The rank of the first member after the cursor, by binary search.
local function placesBefore(time, member)
  local low = redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. time)
  local high = low + redis.call('ZCOUNT', KEYS[1], time, time)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local order = compareBytes(redis.call('ZRANGE', KEYS[1], middle, middle)[1], member)
    if order > 0 or (order == 0 and isBackwards) then high = middle else low = middle + 1 end
  end
  return isBackwards and redis.call('ZCARD', KEYS[1]) - low or low
end

local function keysOf(member)
  if USER_ID ~= '' then return USER_ID, member, KEYS[3] end
  local userId, sessionId = string.match(member, '^(%Z*)%z(%Z*)$')
  return userId, sessionId, KEYS[3] .. '|' .. encode(userId) .. '}:'
end

local withState = ARGV[9] == '1'
local sessions, users, knownUsers = {}, {}, {}
local function addSession(member)
  local userId, sessionId, base = keysOf(member)
  local id = encode(sessionId)
  local record = redis.call('HMGET', base .. 'session:' .. id, unpack(FIELDS))
  if not record[1] or tonumber(record[4]) <= now then return end
  local pending = KEYS[4] and {} or redis.call('HGETALL', base .. 'pending:' .. id)
  local state = withState and redis.call('HGETALL', base .. 'state:' .. id) or {}
  local metadata = redis.call('HGET', base .. 'session:' .. id, 'metadata')
  sessions[#sessions + 1] = { userId, sessionId, record, state, pending, metadata }
  if not withState or knownUsers[userId] then return end
  knownUsers[userId] = true
  users[#users + 1] = { userId, readState(base .. 'user-state') }
end

local expired = redis.call('ZCOUNT', KEYS[2], '-inf', text(now))
local place = ARGV[6] == '' and 0 or placesBefore(ARGV[6], ARGV[7])
if expired == 0 then
  place = place + offset
  offset = 0
end
while #sessions < limit do
  local last = place + math.min(limit - #sessions + offset, 1000) - 1
  local members = redis.call(isBackwards and 'ZREVRANGE' or 'ZRANGE', KEYS[1], place, last)
  if #members == 0 then break end
  place = last + 1
  local expiries = expired > 0 and redis.call('ZMSCORE', KEYS[2], unpack(members)) or {}
  for index, member in ipairs(members) do
    local isLive = not expiries[index] or tonumber(expiries[index]) > now
    if isLive and offset > 0 then
      offset = offset - 1
    elseif isLive then
      addSession(member)
    end
  end
end

local total = ARGV[8] == '1' and redis.call('ZCARD', KEYS[1]) - expired
return { text(now), total, withState and KEYS[4] and readState(KEYS[4]) or {}, users, sessions, text(serverTime) }
`,
);

/**
 * Reads user ids of an app by rank.
 *
 * KEYS 1 users.
 * ARGV 1 time, 2 first rank, 3 last rank.
 * Returns user ids.
 */
export const LIST_USERS = defineScript('list-users', `return redis.call('ZRANGE', KEYS[1], ARGV[2], ARGV[3])`);
