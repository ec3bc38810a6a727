import type { RestoreEventsRequest } from '../../transfer-store.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { encodeEvent } from '../append/initial-log.js';
import { ARGUMENTS, TIME } from '../script/base.lua.js';
import { keyArguments, luaPlaceOf } from '../script/codec.js';
import { EVENT_GROUPS } from '../script/event-groups.lua.js';
import { type NumberReply, type ScriptRunner, defineScript } from '../script/script.js';
import { SESSION } from '../script/session.lua.js';

/** Adds events with the times that they had in another store. */
export async function restoreEvents(
  scripts: ScriptRunner,
  app: AppScope,
  { key, incarnation, lastSeq, events }: RestoreEventsRequest,
): Promise<boolean> {
  const anchors = events.flatMap(({ anchor }, index) => (anchor ? [lastSeq + 1 + index] : []));
  const isDone = await scripts.write<NumberReply>(RESTORE_EVENTS, {
    keys: app.sessionKeys(key),
    args: [
      ...keyArguments(key),
      incarnation,
      lastSeq,
      events.at(-1)?.highWater ?? 0,
      anchors.join(' '),
      events.map(({ group = '' }) => `${group}\n`).join(''),
      ...events.map(encodeEvent),
    ],
  });
  return Number(isDone) === 1;
}

/**
 * Adds events to the end of a log.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV 5 and on: incarnation, last seq, high-water mark, the numbers of anchors in one text, the group of each event as a line,
 *      and each event, encoded.
 * Returns whether it was done (1 or 0).
 */
export const RESTORE_EVENTS = defineScript(
  'restore-events',
  TIME,
  ARGUMENTS,
  SESSION,
  EVENT_GROUPS,
  String.raw`
local incarnation, lastSeq, highWater, anchors, groups = take(), takeNumber(), takeNumber(), take(), take()
local count = #ARGV - position
local record = liveRecord()
if not record or record.incarnation ~= incarnation then return 0 end
if record.last ~= lastSeq then return 0 end

expectHashes(EVENTS)
expectSortedSets(ANCHORS)
local runs, number = {}, lastSeq
for group in string.gmatch(groups, '([^\n]*)\n') do
  number = number + 1
  if group ~= '' then
    if runs[group] == nil then runs[group] = redis.call('HGET', IDS, groupField(group)) end
    runs[group] = runsWith(runs[group], text(number))
  end
end
local events, ids = {}, {}
for place = 1, count do
  local event, seq = take(), text(lastSeq + place)
  events[2 * place - 1], events[2 * place] = seq, event
  ids[2 * place - 1], ids[2 * place] = string.match(event, '^[^\n]*\n[^\n]*\n[^\n]*\n([^\n]*)'), seq
end
for group, some in pairs(runs) do
  ids[#ids + 1] = groupField(group)
  ids[#ids + 1] = some
end
redis.call('HSET', EVENTS, unpack(events))
redis.call('HSET', IDS, unpack(ids))
for seq in string.gmatch(anchors, '%d+') do redis.call('ZADD', ANCHORS, seq, seq) end
local last = text(lastSeq + count)
record.values[${luaPlaceOf('last')}] = last
record.values[${luaPlaceOf('water')}] = text(math.max(record.water, highWater))
writeRecord(RECORD, record.values)
expireSession(record.expires, record.expires)
announce(incarnation .. ' ' .. last)
return 1
`,
);
