import { CHECKPOINT_EVERY } from '../../../domain/checkpoint.js';
import type { CheckpointRequest } from '../../session-storage.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { ARGUMENTS, TIME } from '../script/base.lua.js';
import { keyArguments } from '../script/codec.js';
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
