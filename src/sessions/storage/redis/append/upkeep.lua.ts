import { CHECKPOINT_EVERY } from '../../../domain/history/checkpoint.js';
import { CHECKPOINTS } from '../script/session.lua.js';

/**
 * A part of RARE_WRITES: trims the log, keeps a checkpoint, and repairs what follows from the log. Of a trimmed event its id stays, with its digest in the place of the payload, so that
 * a late duplicate is still recognised. The field `checkpoints` is the first one that the session ever had, where a search ends. */
export const UPKEEP = String.raw`
    ${CHECKPOINTS}
    if trimmed ~= '-' then
      local baseState, first, newFirst, digests = take(), takeNumber(), takeNumber(), {}
      for index = 1, trimmed do digests[index] = take() end
      redis.call('ZCARD', ANCHORS)
      trim = function()
        for index, digest in ipairs(digests) do
          local seq = text(first + index - 1)
          local times, eventId = string.match(redis.call('HGET', RECORD, seq), '^([^\n]*\n[^\n]*\n)[^\n]*(\n[^\n]*)')
          redis.call('HSET', RECORD, seq, times .. digest .. eventId)
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
    if hasRepairs == '1' then
      local checkpoints, anchors, events, groups = take(), take(), {}, {}
      for index = 1, 2 * takeNumber() do events[index] = take() end
      for index = 1, 2 * takeNumber() do groups[index] = take() end
      redis.call('ZCARD', ANCHORS)
      -- What stands before the checksum of an event may be damaged too. The times of the event before it are near.
      local function timesOf(seq)
        local event = redis.call('HGET', RECORD, text(seq))
        return event and string.match(event, '^(%d+\n%d+\n)')
      end
      repair = function()
        for seq in string.gmatch(checkpoints, '%d+') do redis.call('HDEL', RECORD, checkpointField(tonumber(seq))) end
        for index = 1, #events, 2 do
          local seq = tonumber(events[index])
          local times = timesOf(seq) or timesOf(seq - 1) or created .. '\n' .. created .. '\n'
          redis.call('HSET', RECORD, events[index], times .. events[index + 1])
          redis.call('ZREM', ANCHORS, events[index])
        end
        for seq in string.gmatch(anchors, '%d+') do redis.call('ZADD', ANCHORS, seq, seq) end
        for index = 1, #groups, 2 do
          local field = '\0' .. groups[index]
          if groups[index + 1] == '' then redis.call('HDEL', RECORD, field) else redis.call('HSET', RECORD, field, groups[index + 1]) end
        end
      end
    end
`;
