import { script } from './script.js';
import { TIME } from './time.lua.js';

/**
 * Where logs stand.
 *
 * KEYS the records of sessions, on a cluster of one user.
 * ARGV 1 time, then the incarnation of each.
 * Result: of each, in turn, the last number and how long it lives, or two times '' where it is gone.
 */
export const LOG_POSITIONS = script(
  'log-positions',
  TIME,
  String.raw`
local positions = {}
for index, key in ipairs(KEYS) do
  local incarnation, last, expires = unpack(redis.call('HMGET', key, 'incarnation', 'last', 'expires'))
  local isThere = incarnation == ARGV[index + 1] and tonumber(expires) > now
  positions[2 * index - 1] = isThere and last or ''
  positions[2 * index] = isThere and text(tonumber(expires) - now) or ''
end
return positions
`,
);
