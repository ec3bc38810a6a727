import { ARGUMENTS } from './arguments.lua.js';
import { script } from './script.js';
import { SESSION } from './session.lua.js';
import { TIME } from './time.lua.js';

/**
 * Forgets what events said; their ids and digests stay, so that a late repetition is still recognised.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV then: incarnation, firstSeq and marksSeq as they are, firstSeq as it is to be, base state.
 * Result: nothing.
 */
export const TRIM_LOG = script(
  'trim-log',
  TIME,
  ARGUMENTS,
  SESSION,
  String.raw`
local incarnation, first, marks, newFirst, base = take(), takeNumber(), takeNumber(), takeNumber(), take()
local record = liveRecord()
if not record or record.incarnation ~= incarnation or record.first ~= first or record.marks ~= marks then return end

for seq = first, math.min(newFirst - 1, record.last) do
  local event = redis.call('HGET', EVENTS, text(seq))
  redis.call('HSET', EVENTS, text(seq), string.match(event, '^[^\n]*\n[^\n]*\n[^\n]*\n[^\n]*'))
end
redis.call('ZREMRANGEBYSCORE', ANCHORS, '-inf', '(' .. text(newFirst))
redis.call('HSET', RECORD, 'first', text(newFirst), 'base', base)
`,
);
