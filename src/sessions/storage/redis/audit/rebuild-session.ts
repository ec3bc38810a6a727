import { payloadChecksum } from '../../../domain/event-digest.js';
import type { RebuildRequest } from '../../rebuild.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { ARGUMENTS, TIME } from '../script/base.lua.js';
import { flag, keyArguments, luaPlaceOf } from '../script/codec.js';
import { type NumberReply, type ScriptRunner, defineScript } from '../script/script.js';
import { EVENT_GROUPS } from '../script/event-groups.lua.js';
import { CHECKPOINTS, SESSION } from '../script/session.lua.js';
import { runsOf } from './grouped-events.js';
import { SESSION_USAGE, USAGE_OF_SESSION, usageFields } from '../script/usage.lua.js';

/** Replaces what follows from the log of a session. */
export async function rebuildSession(
  scripts: ScriptRunner,
  app: AppScope,
  { key, incarnation, lastSeq, events = [], usage, removeCheckpoints = [], anchors = [], groups = [] }: RebuildRequest,
): Promise<boolean> {
  const isDone = await scripts.write<NumberReply>(REBUILD_SESSION, {
    keys: app.sessionKeys(key),
    args: [
      ...keyArguments(key),
      incarnation,
      lastSeq,
      flag(usage !== undefined),
      usageFields(usage ?? [])
        .map(([field, count]) => `${SESSION_USAGE}${field}\n${count}\n`)
        .join(''),
      removeCheckpoints.join(' '),
      anchors.join(' '),
      events.length,
      ...events.flatMap(({ seq, id, payload }) => [seq, `${payloadChecksum(payload)}\n${id}\n${payload}`]),
      // Events of no group have no runs.
      ...groups.filter(({ group }) => group !== '').flatMap((group) => [group.group, runsOf(group)]),
    ],
  });
  return Number(isDone) === 1;
}

/**
 * Replaces what follows from the log of a session, if nobody has appended.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV 5 and on: incarnation, last seq, whether to replace the tokens (1 or 0), their fields and counts as lines, the checkpoints to remove and the
 *      anchors to add, each as numbers in one text; number of events, each with its number and its lines from the checksum on;
 *      then groups, each with its runs.
 * Returns whether it was done (1 or 0).
 */
export const REBUILD_SESSION = defineScript(
  'rebuild-session',
  TIME,
  ARGUMENTS,
  SESSION,
  CHECKPOINTS,
  EVENT_GROUPS,
  USAGE_OF_SESSION,
  String.raw`
local incarnation, lastSeq, hasUsage, usage, checkpoints, anchors = take(), takeNumber(), take(), take(), take(), take()
local record = liveRecord()
if not record or record.incarnation ~= incarnation or record.last ~= lastSeq then return 0 end

expectSortedSets(ANCHORS)
for seq in string.gmatch(checkpoints, '%d+') do redis.call('HDEL', RECORD, checkpointField(tonumber(seq))) end
for seq in string.gmatch(anchors, '%d+') do redis.call('ZADD', ANCHORS, seq, seq) end
-- What stands before the checksum may be damaged too. The times of the event before it are near.
local function timesOf(seq)
  local event = redis.call('HGET', EVENTS, text(seq))
  return event and string.match(event, '^(%d+\n%d+\n)')
end
local created = record.values[${luaPlaceOf('created')}]
for _ = 1, takeNumber() do
  local seq, lines = takeNumber(), take()
  local times = timesOf(seq) or timesOf(seq - 1) or created .. '\n' .. created .. '\n'
  redis.call('HSET', EVENTS, text(seq), times .. lines)
  redis.call('ZREM', ANCHORS, seq)
end
for group in take do
  local runs = take()
  if runs == '' then redis.call('HDEL', IDS, groupField(group)) else redis.call('HSET', IDS, groupField(group), runs) end
end
if hasUsage == '1' then
  for _, field in ipairs(usageFieldsOf(RECORD)) do redis.call('HDEL', RECORD, field) end
  for field, count in string.gmatch(usage, '([^\n]*)\n([^\n]*)\n') do redis.call('HSET', RECORD, field, count) end
end
expireSession(record.expires, record.expires)
return 1
`,
);
