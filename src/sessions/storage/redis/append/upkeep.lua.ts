import { CHECKPOINT_EVERY } from '../../../domain/checkpoint.js';

/**
 * A part of RARE_WRITES: trims the log, and keeps a checkpoint. Of a trimmed event its id stays, with its digest in the place of the payload, so that
 * a late duplicate is still recognised. The field `checkpoints` is the first one that the session ever had, where a search ends. Needs
 * CHECKPOINTS.
 */
export const UPKEEP = String.raw`
    if trimmed ~= '-' then
      local baseState, first, newFirst, digests = take(), takeNumber(), takeNumber(), {}
      for index = 1, trimmed do digests[index] = take() end
      redis.call('HLEN', EVENTS)
      redis.call('ZCARD', ANCHORS)
      trim = function()
        for index, digest in ipairs(digests) do
          local seq = text(first + index - 1)
          local times, eventId = string.match(redis.call('HGET', EVENTS, seq), '^([^\n]*\n[^\n]*\n)[^\n]*(\n[^\n]*)')
          redis.call('HSET', EVENTS, seq, times .. digest .. eventId)
        end
        redis.call('ZREMRANGEBYSCORE', ANCHORS, '-inf', '(' .. text(newFirst))
        removeCheckpoints(first - 1, newFirst - 2, ${CHECKPOINT_EVERY})
        redis.call('HSET', RECORD, 'base', baseState)
      end
    end
    if checkpointAt ~= '-' then
      local checkpoint, at = take(), tonumber(checkpointAt)
      keepCheckpoint = function()
        local first = firstCheckpoint()
        if not first or at < first then redis.call('HSET', RECORD, 'checkpoints', checkpointAt) end
        redis.call('HSETNX', RECORD, checkpointField(at), checkpoint)
      end
    end
`;
