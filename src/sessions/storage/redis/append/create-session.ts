import { randomUUID } from 'node:crypto';
import { LimitExceededError } from '../../../domain/errors.js';
import { expiresAt } from '../../../domain/expiry.js';
import { type InitialEvent, type InitialLog, EMPTY_LOG, newRecord } from '../../../domain/session-record.js';
import { writesOf } from '../../../domain/stored-json.js';
import type { CreateRequest, StoredSession } from '../../session-storage.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { afterWrite } from '../connect/driver-errors.js';
import { beganToWait } from '../coordinate/changed-sessions.js';
import { ARGUMENTS, ENCODE_ID, TIME } from '../script/base.lua.js';
import {
  type FlatHash,
  type RecordReply,
  type ScriptArguments,
  ALL_COUNTER_FIELDS,
  counterValues,
  countersText,
  flag,
  keyArguments,
  lifetimeArguments,
  rangesText,
  recordOf,
  stateOfScopes,
  writeArguments,
} from '../script/codec.js';
import { EVENT_GROUPS } from '../script/event-groups.lua.js';
import { type ScriptRunner, defineScript } from '../script/script.js';
import { SESSION, SESSION_REGISTRATION } from '../script/session.lua.js';
import { REGISTRY, SHARED_STATE } from '../script/shared-state.lua.js';

/** A Redis command takes at most 1,048,576 arguments. */
const MAX_INITIAL_EVENTS = 1_000_000;

type CreateReply =
  | readonly [
      now: string,
      record: RecordReply,
      session: FlatHash,
      user: FlatHash,
      app: FlatHash,
      pending: FlatHash,
      readAt: string,
    ]
  | null;

export async function createSession(
  scripts: ScriptRunner,
  app: AppScope,
  { key, baseState, upserts, expiry, metadata = '', log, turnsOnly }: CreateRequest,
): Promise<StoredSession | undefined> {
  const incarnation = randomUUID();
  const writes = { upserts, removals: [] };
  const own = writesOf('session', writes);
  const reply = await scripts.write<CreateReply>(CREATE_SESSION, {
    keys: app.sessionKeys(key),
    args: [
      ...keyArguments(key),
      incarnation,
      baseState,
      flag(turnsOnly),
      metadata,
      expiry.session.ttlMs,
      ...lifetimeArguments(expiry.user),
      ...lifetimeArguments(expiry.app),
      ...writeArguments(own),
      ...writeArguments(writesOf('user', writes)),
      ...app.writeArguments(writesOf('app', writes), expiry.app),
      ...logArguments(log),
    ],
  });
  if (!reply) return undefined;
  const [now, recordReply, session, user, appReply, pending, readAt] = reply;
  const isNew = recordReply === '';
  const record = isNew
    ? newRecord(key, incarnation, Number(now), expiresAt(Number(now), expiry.session), log, turnsOnly)
    : recordOf(key, recordReply);
  if (beganToWait(record, Number(now))) app.announceChange(key);
  const appState = await afterWrite(async () => {
    await app.applyPending({ key, incarnation: record.incarnation, pending, readAt });
    await app.renewIfDue(key.appName, expiry.app, Number(now));
    return app.stateOf(key.appName, appReply);
  });
  const ownState = isNew ? own.upserts.flatMap(({ name, value }) => [name, value]) : session;
  return { record, now: Number(now), events: [], metadata, ...stateOfScopes(ownState, user, appState) };
}

/** The initial log of a fork. Each event is one argument, because there may be many. */
function logArguments(log: InitialLog = EMPTY_LOG): ScriptArguments {
  const { events, tipSeq, counters, marks, marksSeq } = log;
  if (events.length > MAX_INITIAL_EVENTS) {
    throw new LimitExceededError(
      `a session can begin with at most ${MAX_INITIAL_EVENTS} events, not ${events.length}`,
      'log',
    );
  }
  const anchors = events.flatMap(({ anchor }, index) => (anchor ? [index + 1] : []));
  return [
    tipSeq,
    events.at(-1)?.highWater ?? 0,
    ...counterValues(counters),
    rangesText(marks.hidden),
    marks.viewFromSeq,
    marks.summarySeq,
    marksSeq,
    countersText(marks.covered),
    anchors.join(' '),
    events.map(({ group = '' }) => `${group}\n`).join(''),
    events.length,
    ...events.map(encodeEvent),
  ];
}

/** The same encoding as in APPEND_COMMIT. */
function encodeEvent({ appendedAt, highWater, digest, id, payload }: InitialEvent): string {
  return [appendedAt, highWater, digest, id, payload].join('\n');
}

/**
 * Creates a session unless a live one exists. A live one with the same incarnation was created by this very request,
 * which was sent twice.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV 5 and on: incarnation, base state, whether events need a turn (1 or 0), metadata, ttl of the session, ttl and renewal threshold of user state, then of app
 *      state; writes to session state, to user state, and to app state (on a cluster: as one text, '' = none); of the
 *      initial log: tip, high water mark, all counters, hidden ranges, viewFrom, summary, marks
 *      seq, covered counters, the numbers of its anchors in one text, the group of each
 *      event as a line, number of events, and each event, encoded.
 * Returns nothing if a session exists, else { now, record ('' = the new one), session state (of a new one nothing), user
 *      state, app state, pending, server time }.
 */
export const CREATE_SESSION = defineScript(
  'create-session',
  TIME,
  ARGUMENTS,
  ENCODE_ID,
  SHARED_STATE,
  REGISTRY,
  SESSION,
  SESSION_REGISTRATION,
  EVENT_GROUPS,
  String.raw`
local incarnation, base, turnsOnly, metadata = take(), take(), take(), take()
local ttl, userTtl, userRenewBelow = takeNumber(), takeNumber(), takeNumber()
local appTtl, appRenewBelow = takeNumber(), takeNumber()
local ownWrites, userWrites = takeWrites(), takeWrites()
local appWrites = APP_STATE and takeWrites() or take()
local tip, highWater = take(), take()
local counters = {}
for _, field in ipairs({ ${ALL_COUNTER_FIELDS.map((field) => `'${field}'`).join(', ')} }) do
  counters[#counters + 1], counters[#counters + 2] = field, take()
end
local hidden, viewFrom, summary, marks, covered = take(), take(), take(), take(), take()
local anchors, groups, last = take(), take(), takeNumber()

local function reply(record, state, userState, appState)
  return { text(now), record, state, userState, appState, pendingWrites(), text(serverTime) }
end

local live = liveRecord()
if live and live.incarnation ~= incarnation then return false end
if live then
  local appState = APP_STATE and readState(APP_STATE) or {}
  return reply(recordText(live.values), redis.call('HGETALL', STATE), readState(USER_STATE), appState)
end

-- Sessions that Redis expired are still in the indexes. Each new session removes up to 16 of them.
local function sweepIndexes()
  local base = string.sub(RECORD, 1, #RECORD - #encode(SESSION_ID))
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', INDEXES[1].by[3], '-inf', text(now), 'LIMIT', 0, 16)) do
    if redis.call('EXISTS', base .. encode(id)) == 0 then
      indexEntries(id)
      unindex(INDEXES[1], id)
      if INDEXES[2] then unindex(INDEXES[2], USER_ID .. '\0' .. id) end
      redis.call('ZREM', CHANGED, APP_NAME .. '\0' .. USER_ID .. '\0' .. id)
    end
  end
end

-- Reads every key to be written, except the session's own keys, which are deleted.
countIndexes(true)
for _, index in ipairs(INDEXES) do expectSortedSets(index.by[2]) end
local maySweep = INDEXES[1].expiring > 0
local hasEntries = redis.call('HGET', ENTRIES, SESSION_ID) or metadata ~= ''
if maySweep or hasEntries then expectEntries() end
if maySweep or last > 0 then readChanged({ waiting = 0 }) end
local expiry, time = expiresAt(ttl), text(now)
local registry = readRegistry(math.min(expiry, expiresAt(userTtl), expiresAt(appTtl)))
local userState, userExpiry = readState(USER_STATE)
local appState, appExpiry = {}, nil
if APP_STATE then appState, appExpiry = readState(APP_STATE) end

unlinkIfPresent(unpack(KEYS, 1, 7))
if maySweep then sweepIndexes() end
redis.call('HSET', RECORD, 'incarnation', incarnation, 'created', time, 'updated', time, 'expires', text(expiry),
  'first', 1, 'last', text(last), 'tip', tip, 'water', highWater,
  'hidden', hidden, 'viewFrom', viewFrom, 'summary', summary, 'marks', marks, 'covered', covered,
  'base', base, 'grouped', '1', 'turnsOnly', turnsOnly, 'metadata', metadata,
  'dispatched', '0', 'waiting', last > 0 and waitingFrom() or '0', unpack(counters))
-- Writing 1,000 fields at a time takes half as long; Lua limits how many values it unpacks.
for first = 1, last, 1000 do
  local events, ids = {}, {}
  for number = first, math.min(first + 999, last) do
    local event, seq = take(), text(number)
    local place = 2 * (number - first) + 1
    events[place], events[place + 1] = seq, event
    ids[place], ids[place + 1] = string.match(event, '^[^\n]*\n[^\n]*\n[^\n]*\n([^\n]*)'), seq
  end
  redis.call('HSET', EVENTS, unpack(events))
  redis.call('HSET', IDS, unpack(ids))
end
for seq in string.gmatch(anchors, '%d+') do redis.call('ZADD', ANCHORS, seq, seq) end
local runs, number = {}, 0
for group in string.gmatch(groups, '([^\n]*)\n') do
  number = number + 1
  if group ~= '' then runs[group] = runsWith(runs[group], text(number)) end
end
for group, some in pairs(runs) do redis.call('HSET', IDS, groupField(group), some) end
writeEntries(STATE, ownWrites)
local function isUnchanged(expiryOfIt, writes, renewBelow)
  return isEmpty(writes) and not (expiryOfIt and expiryOfIt - now < renewBelow)
end
local userDue, appDue
if not isUnchanged(userExpiry, userWrites, userRenewBelow) then
  userDue = writeState(USER_STATE, userExpiry, userWrites, userTtl, userRenewBelow)
  userState = readState(USER_STATE)
end
if APP_STATE then
  if not isUnchanged(appExpiry, appWrites, appRenewBelow) then
    appDue = writeState(APP_STATE, appExpiry, appWrites, appTtl, appRenewBelow)
    appState = readState(APP_STATE)
  end
elseif appWrites ~= '' then
  redis.call('HSET', PENDING, 0, appWrites)
end
if hasEntries then indexEntries(SESSION_ID, now, metadata) end
indexSession(now, now, expiry, 0)
register(registry, expiry, nil, userDue, appDue)
expireSession(expiry, nil)
if last > 0 then noteChange({ waiting = 0 }, expiry) end
return reply('', {}, userState, appState)
`,
);
