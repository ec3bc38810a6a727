import { LONGEST_DELAY_MS } from '../../../domain/agenda-rules.js';
import { script } from './script.js';
import { TIME } from './time.lua.js';

/**
 * Puts a name on the agenda; one that is there stays until the later of both times.
 *
 * The agenda goes when nothing was put on it for so long that its last entry has been due for as long as entries may
 * have to wait. Then nobody looks at it any more.
 *
 * KEYS 1 the agenda.
 * ARGV 1 time, 2 name, 3 in how many ms.
 * Result: nothing.
 */
export const PUT_ON_AGENDA = script(
  'put-on-agenda',
  TIME,
  String.raw`
local KEPT_MS = ${2 * LONGEST_DELAY_MS}
redis.call('ZADD', KEYS[1], 'GT', text(expiresAt(tonumber(ARGV[3]))), ARGV[2])
expireKeys({ KEYS[1] }, expiresAt(KEPT_MS))
`,
);

/**
 * Entries whose time has come, the oldest first.
 *
 * KEYS 1 the agenda.
 * ARGV 1 time, 2 how many at most.
 * Result: name and time that it was due, in turn.
 */
export const DUE_ENTRIES = script(
  'due-entries',
  TIME,
  String.raw`
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(math.floor(now)), 'WITHSCORES', 'LIMIT', 0, ARGV[2])
`,
);

/**
 * Takes an entry off the agenda whose time is still the same.
 *
 * KEYS 1 the agenda.
 * ARGV 1 time, 2 name, 3 when it is due.
 * Result: nothing.
 */
export const TAKE_OFF_AGENDA = script(
  'take-off-agenda',
  String.raw`
if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[2])) == tonumber(ARGV[3]) then redis.call('ZREM', KEYS[1], ARGV[2]) end
`,
);
