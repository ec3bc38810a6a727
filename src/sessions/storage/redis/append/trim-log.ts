import { CHECKPOINT_EVERY } from '../../../domain/checkpoint.js';
import type { TrimRequest } from '../../session-storage.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { ARGUMENTS, TIME } from '../script/base.lua.js';
import { keyArguments } from '../script/codec.js';
import { type ScriptRunner, defineScript } from '../script/script.js';
import { CHECKPOINTS, SESSION } from '../script/session.lua.js';

export async function trimLog(
  scripts: ScriptRunner,
  app: AppScope,
  { key, incarnation, firstSeq, marksSeq, newFirstSeq, baseState }: TrimRequest,
): Promise<void> {
  await scripts.write(TRIM_LOG, {
    keys: app.sessionKeys(key),
    args: [...keyArguments(key), incarnation, firstSeq, marksSeq, newFirstSeq, baseState, CHECKPOINT_EVERY],
  });
}

/**
 * Removes the payloads of events. Ids and digests stay, so that a late duplicate is still recognised.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV 5 and on: incarnation, expected first seq and marks seq, new first seq, base state, distance of checkpoints.
 * Returns nothing.
 */
export const TRIM_LOG = defineScript(
  'trim-log',
  TIME,
  ARGUMENTS,
  SESSION,
  CHECKPOINTS,
  String.raw`
local incarnation, first, marks, newFirst, base = take(), takeNumber(), takeNumber(), takeNumber(), take()
local distance = takeNumber()
local record = liveRecord()
if not record or record.incarnation ~= incarnation or record.first ~= first or record.marks ~= marks then return end

expectSortedSets(ANCHORS)
for seq = first, math.min(newFirst - 1, record.last) do
  local event = redis.call('HGET', EVENTS, text(seq))
  redis.call('HSET', EVENTS, text(seq), string.match(event, '^[^\n]*\n[^\n]*\n[^\n]*\n[^\n]*'))
end
redis.call('ZREMRANGEBYSCORE', ANCHORS, '-inf', '(' .. text(newFirst))
removeCheckpoints(first - 1, newFirst - 2, distance)
redis.call('HSET', RECORD, 'first', text(newFirst), 'base', base)
`,
);
