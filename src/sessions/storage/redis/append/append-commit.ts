import type { AppendOutcome, Commit } from '../../../domain/commit.js';
import { OWN_SEQ, type ViewMarks } from '../../../domain/view-marks.js';
import { writesOf } from '../../../domain/stored-json.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { afterWrite } from '../connect/driver-errors.js';
import { beganToWait } from '../coordinate/changed-sessions.js';
import { ARGUMENTS, TIME } from '../script/base.lua.js';
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
  optional,
  pairsOf,
  rangesText,
  recordOf,
  storedEventOf,
  writeArguments,
} from '../script/codec.js';
import { EVENT_GROUPS } from '../script/event-groups.lua.js';
import { METADATA, metadataArguments } from '../script/metadata.lua.js';
import { type ScriptRunner, defineScript } from '../script/script.js';
import { REGISTRY, SESSION, SESSION_REGISTRATION, SHARED_STATE } from '../script/session.lua.js';

type AppendReply =
  | readonly [kind: 'missing']
  | readonly [
      kind: 'appended' | 'seen' | 'turnLost' | 'turnRequired' | 'stale' | 'overtaken' | 'full',
      now: string,
      record: RecordReply,
      pending: FlatHash,
      readAt: string,
      /** The previous tip of an appended commit; number and text of each seen event, '' for one that is not stored. */
      ...details: string[],
    ];

type FoundReply = Exclude<AppendReply, readonly [kind: 'missing']>;

/** Appends a commit in one script. On a cluster, writes to app state follow in a second one. */
export async function appendCommit(scripts: ScriptRunner, app: AppScope, commit: Commit): Promise<AppendOutcome> {
  const { key, expiry } = commit;
  const reply = await scripts.write<AppendReply>(APPEND_COMMIT, {
    keys: app.sessionKeys(key),
    args: commitArguments(commit, app),
  });
  if (reply[0] === 'missing') return { kind: 'missing' };
  const [kind, now, record, pending, readAt] = reply;
  await afterWrite(async () => {
    await app.applyPending({ key, incarnation: record[0] ?? '', pending, readAt });
    if (kind === 'appended' && expiry) await app.renewIfDue(key.appName, expiry.app, Number(now));
  });
  const outcome = outcomeOf(commit, reply);
  if (outcome.kind === 'appended' && beganToWait(outcome.record, outcome.now)) app.announceChange(key);
  return outcome;
}

function outcomeOf({ key }: Commit, [kind, now, reply, , , ...details]: FoundReply): AppendOutcome {
  const record = recordOf(key, reply);
  switch (kind) {
    case 'appended':
      return { kind, record, now: Number(now), previousTipSeq: Number(details[0]) };
    case 'seen':
      return {
        kind,
        record,
        events: pairsOf(details).map(([seq, text]) => (seq ? storedEventOf(seq, text) : undefined)),
      };
    case 'stale':
      return { kind, lastSeq: record.lastSeq };
    case 'turnLost':
    case 'turnRequired':
    case 'overtaken':
    case 'full':
      return { kind };
  }
}

function commitArguments(commit: Commit, app: AppScope): ScriptArguments {
  const { key, events, expiry, preconditions, counterIncrements: counts } = commit;
  const { incarnation, expectedVersion, lastSeq, firstSeq, marksSeq, turnToken } = preconditions;
  return [
    ...keyArguments(key),
    events.length,
    ...events.flatMap(({ id, digest, timestamp, anchor, group = '', payload }) => [
      id,
      digest,
      timestamp,
      flag(anchor),
      group,
      payload,
    ]),
    ...[incarnation, expectedVersion, lastSeq, firstSeq, marksSeq, turnToken].map(optional),
    flag(commit.endsTurn),
    ...counterValues(counts),
    ...markArguments(commit.marks),
    optional(expiry?.session.ttlMs),
    ...lifetimeArguments(expiry?.user),
    ...lifetimeArguments(expiry?.app),
    ...writeArguments(writesOf('session', commit)),
    ...writeArguments(writesOf('user', commit)),
    ...app.writeArguments(writesOf('app', commit), expiry?.app),
    ...metadataArguments(commit.metadata),
  ];
}

/** The script replaces `@` with the number of the event, which is the only one of its commit. */
function markArguments(marks: ViewMarks | undefined): ScriptArguments {
  if (!marks) return ['-', '', '', ''];
  const hidden = marks.hidden.map(({ from, to }) => ({ from: seqOrOwn(from), to: seqOrOwn(to) }));
  return [rangesText(hidden), marks.viewFromSeq, seqOrOwn(marks.summarySeq), countersText(marks.covered)];
}

function seqOrOwn(seq: number): number | string {
  return seq === OWN_SEQ ? '@' : seq;
}

/**
 * Writes a commit or reports why it cannot. All checks come before the first write.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV 5 and on: number of events, and for each its id, digest, timestamp, anchor (1 or 0), group, payload; expected
 *      incarnation, version, last seq, first seq and marks seq, token of the turn ('' = any); whether the turn ends (1 or
 *      0); increments of all counters; hidden ranges ('@' = the number of the event, '-' =
 *      marks do not change), viewFrom, summary, covered counters; ttl of the session ('' = renews nothing); ttl and
 *      renewal threshold of user state, then of app state; writes to session state, to user state, and to app state (on
 *      a cluster: as one text, '' = none); if metadata changes: number of changes, and name and value of each ('' =
 *      removed).
 * Returns { kind, now, record, pending, server time }, then for 'appended' the previous tip, for 'seen' the number and
 *      text of the stored event of each id, or two empty texts.
 */
export const APPEND_COMMIT = defineScript(
  'append-commit',
  TIME,
  ARGUMENTS,
  METADATA,
  SHARED_STATE,
  REGISTRY,
  SESSION,
  SESSION_REGISTRATION,
  EVENT_GROUPS,
  String.raw`
local events, ids = {}, {}
for index = 1, takeNumber() do
  local id, digest, timestamp, isAnchor, group, payload = take(), take(), takeNumber(), take() == '1', take(), take()
  ids[index] = id
  events[index] = { id = id, digest = digest, timestamp = timestamp, isAnchor = isAnchor, group = group, payload = payload }
end
local incarnation, expectedVersion = take(), takeNumber()
local expected = { last = takeNumber(), first = takeNumber(), marks = takeNumber() }
local turnToken, endsTurn = take(), take() == '1'
local increments = { ${ALL_COUNTER_FIELDS.map((field) => `${field} = takeNumber()`).join(', ')} }
local hidden, viewFrom, summary, covered = take(), take(), take(), take()
local ttl, userTtl, userRenewBelow = takeNumber(), takeNumber(), takeNumber()
local appTtl, appRenewBelow = takeNumber(), takeNumber()
local ownWrites, userWrites = takeWrites(), takeWrites()
local appWrites = APP_STATE and takeWrites() or take()
local metadataChanges = takeMetadata()

local record = liveRecord()
if not record or (incarnation ~= '' and incarnation ~= record.incarnation) then return { 'missing' } end

local function reply(kind, ...)
  return { kind, text(now), record.values, pendingWrites(), text(serverTime), ... }
end

-- An id above the last seq was left by a script that Redis stopped half way, for example for a missing permission.
local seen, isSeen = {}, false
for _, seq in ipairs(redis.call('HMGET', IDS, unpack(ids))) do
  local isStored = seq and tonumber(seq) <= record.last
  isSeen = isSeen or isStored
  seen[#seen + 1] = isStored and seq or ''
  seen[#seen + 1] = isStored and redis.call('HGET', EVENTS, seq) or ''
end
if isSeen then return reply('seen', unpack(seen)) end
local turn = turnToken ~= '' and turnOf(record)
if turn and not isTurnHeld(turn, turnToken) then return reply('turnLost') end
if not turn and record.turnsOnly and ttl then return reply('turnRequired') end
if expectedVersion and (expectedVersion < record.tip or expectedVersion > record.last) then return reply('stale') end
for field, seq in pairs(expected) do
  if record[field] ~= seq then return reply('overtaken') end
end

local metadata
if metadataChanges then
  metadata = metadataAfter(redis.call('HGET', RECORD, 'metadata'), metadataChanges)
  if not metadata then return reply('full') end
end

local expiry, updated = record.expires, record.updated
local userExpiry, appExpiry, registry
for _, event in ipairs(events) do
  if event.isAnchor then
    expectSortedSets(ANCHORS)
    break
  end
end
if metadata then expectEntries() end
if not isEmpty(ownWrites) then expectHashes(STATE) end
readChanged(record)
if not APP_STATE then expectHashes(PENDING) end
if ttl then
  expiry, updated = expiresAt(ttl), math.max(updated, now)
  countIndexes(isExpiring(expiry, record.expires))
  userExpiry, appExpiry = expiryOfState(USER_STATE), APP_STATE and expiryOfState(APP_STATE)
  if math.min(expiry, record.expires, expiresAt(userTtl), expiresAt(appTtl)) < NEVER then registry = readRegistry() end
end

-- The first write. Every other key to be written has been read before.
local seq
local water = math.max(record.water, now)
for index, event in ipairs(events) do
  seq = text(record.last + index)
  water = math.max(water, event.timestamp)
  redis.call('HSET', EVENTS, seq, table.concat({ text(now), text(water), event.digest, event.id, event.payload }, '\n'))
  redis.call('HSET', IDS, event.id, seq)
  if event.group ~= '' then
    local field = groupField(event.group)
    redis.call('HSET', IDS, field, runsWith(redis.call('HGET', IDS, field), seq))
  end
  if event.isAnchor then redis.call('ZADD', ANCHORS, seq, seq) end
end

-- From here on, seq is the number of the last event.
local changes = { 'last', seq, 'water', text(water) }
local function change(...)
  for _, value in ipairs({ ... }) do changes[#changes + 1] = value end
end
for counter, increment in pairs(increments) do
  if increment ~= 0 then change(counter, text(record[counter] + increment)) end
end
if hidden ~= '-' then
  if summary == '@' then summary = seq end
  change('hidden', (string.gsub(hidden, '@', seq)), 'viewFrom', viewFrom, 'summary', summary, 'marks', seq, 'covered', covered)
end
if ttl then
  change('tip', seq, 'updated', text(updated), 'expires', text(expiry))
end
if metadata then change('metadata', metadata) end
if record.waiting == 0 then
  change('dispatched', text(record.last), 'waiting', waitingFrom())
end
if endsTurn then change('turn', turnText(turn, 0)) end
redis.call('HSET', RECORD, unpack(changes))
local changed = {}
for index = 1, #changes, 2 do changed[changes[index]] = changes[index + 1] end
for index, field in ipairs(FIELDS) do record.values[index] = changed[field] or record.values[index] end

writeEntries(STATE, ownWrites)
if metadata then indexEntries(SESSION_ID, record.created, metadata) end
if ttl then
  local userDue = writeState(USER_STATE, userExpiry, userWrites, userTtl, userRenewBelow)
  local appDue
  if APP_STATE then
    appDue = writeState(APP_STATE, appExpiry, appWrites, appTtl, appRenewBelow)
  elseif appWrites ~= '' then
    redis.call('HSET', PENDING, seq, appWrites)
  end
  indexSession(updated, nil, expiry, record.expires)
  register(registry, expiry, record.expires, userDue, appDue)
end
expireSession(expiry, record.expires)
noteChange(record, expiry)
announce(record.incarnation .. ' ' .. seq)
return reply('appended', text(record.tip))
`,
);
