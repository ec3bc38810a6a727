import { CHECKPOINT_EVERY } from '../../../domain/checkpoint.js';
import type { CheckpointRequest, TrimRequest } from '../../session-storage.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { ARGUMENTS, TIME } from '../script/base.lua.js';
import { keyArguments, luaPlaceOf } from '../script/codec.js';
import { type ScriptRunner, defineScript } from '../script/script.js';
import { CHECKPOINTS, SESSION } from '../script/session.lua.js';

export async function saveCheckpoint(
  scripts: ScriptRunner,
  app: AppScope,
  { key, incarnation, seq, text }: CheckpointRequest,
): Promise<void> {
  await scripts.write(SAVE_CHECKPOINT, {
    keys: app.sessionKeys(key),
    args: [...keyArguments(key), incarnation, CHECKPOINT_EVERY, seq, text],
  });
}

/**
 * Adds a checkpoint to the record. The field `checkpoints` is the first one that the session ever had, where a search
 * ends.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV 5 and on: incarnation, distance of checkpoints, seq, text.
 * Returns nothing.
 */
export const SAVE_CHECKPOINT = defineScript(
  'save-checkpoint',
  TIME,
  ARGUMENTS,
  SESSION,
  CHECKPOINTS,
  String.raw`
local incarnation, _, seq, checkpoint = take(), take(), takeNumber(), take()
local record = liveRecord()
if not record or record.incarnation ~= incarnation or seq < record.first - 1 then return end

local first = firstCheckpoint()
if not first or seq < first then redis.call('HSET', RECORD, 'checkpoints', text(seq)) end
redis.call('HSETNX', RECORD, checkpointField(seq), checkpoint)
`,
);

export async function trimLog(
  scripts: ScriptRunner,
  app: AppScope,
  { key, incarnation, firstSeq, marksSeq, newFirstSeq, digests, baseState }: TrimRequest,
): Promise<void> {
  await scripts.write(TRIM_LOG, {
    keys: app.sessionKeys(key),
    args: [...keyArguments(key), incarnation, firstSeq, marksSeq, newFirstSeq, baseState, CHECKPOINT_EVERY, ...digests],
  });
}

/**
 * Replaces the payloads of events by digests. Their ids stay too, so that a late duplicate is still recognised.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV 5 and on: incarnation, expected first seq and marks seq, new first seq, base state, distance of checkpoints,
 *      the digest of each trimmed event.
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
  local times, id = string.match(event, '^([^\n]*\n[^\n]*\n)[^\n]*(\n[^\n]*)')
  redis.call('HSET', EVENTS, text(seq), times .. take() .. id)
end
redis.call('ZREMRANGEBYSCORE', ANCHORS, '-inf', '(' .. text(newFirst))
removeCheckpoints(first - 1, newFirst - 2, distance)
record.values[${luaPlaceOf('first')}] = text(newFirst)
writeRecord(RECORD, record.values)
redis.call('HSET', RECORD, 'base', base)
`,
);
