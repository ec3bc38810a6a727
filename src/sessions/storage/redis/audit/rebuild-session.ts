import type { RebuildRequest } from '../../rebuild.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { ARGUMENTS, TIME } from '../script/base.lua.js';
import { flag, keyArguments } from '../script/codec.js';
import { type NumberReply, type ScriptRunner, defineScript } from '../script/script.js';
import { EVENT_GROUPS } from '../script/event-groups.lua.js';
import { CHECKPOINTS, SESSION } from '../script/session.lua.js';
import { runsOf } from './grouped-events.js';
import { usageLine } from '../script/usage.lua.js';

/** Replaces what follows from the log of a session. */
export async function rebuildSession(
  scripts: ScriptRunner,
  app: AppScope,
  { key, incarnation, lastSeq, usage, removeCheckpoints = [], anchors = [], groups = [] }: RebuildRequest,
): Promise<boolean> {
  const isDone = await scripts.write<NumberReply>(REBUILD_SESSION, {
    keys: app.sessionKeys(key),
    args: [
      ...keyArguments(key),
      incarnation,
      lastSeq,
      flag(usage !== undefined),
      (usage ?? []).map(usageLine).join('\n'),
      removeCheckpoints.join(' '),
      anchors.join(' '),
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
 * ARGV 5 and on: incarnation, last seq, whether to replace the tokens (1 or 0), the tokens, the checkpoints to remove and the
 *      anchors to add, each as numbers in one text; then groups, each with its runs.
 * Returns whether it was done (1 or 0).
 */
export const REBUILD_SESSION = defineScript(
  'rebuild-session',
  TIME,
  ARGUMENTS,
  SESSION,
  CHECKPOINTS,
  EVENT_GROUPS,
  String.raw`
local incarnation, lastSeq, hasUsage, usage, checkpoints, anchors = take(), takeNumber(), take(), take(), take(), take()
local record = liveRecord()
if not record or record.incarnation ~= incarnation or record.last ~= lastSeq then return 0 end

expectSortedSets(ANCHORS)
for seq in string.gmatch(checkpoints, '%d+') do redis.call('HDEL', RECORD, checkpointField(tonumber(seq))) end
for seq in string.gmatch(anchors, '%d+') do redis.call('ZADD', ANCHORS, seq, seq) end
for group in take do
  local runs = take()
  if runs == '' then redis.call('HDEL', IDS, groupField(group)) else redis.call('HSET', IDS, groupField(group), runs) end
end
if hasUsage == '1' and usage == '' then redis.call('HDEL', RECORD, 'usage') end
if hasUsage == '1' and usage ~= '' then redis.call('HSET', RECORD, 'usage', usage) end
expireSession(record.expires, record.expires)
return 1
`,
);
