import { script } from './script.js';

/**
 * Looks which commands the user may not run. A script does not roll back, so one that is refused a command half way
 * would leave the rest undone.
 *
 * KEYS 1 any key of the store.
 * ARGV commands.
 * Result: those that are refused; none where the server cannot tell beforehand, which is older than Redis 7.
 */
export const CHECK_RIGHTS = script(
  'check-rights',
  String.raw`
local refused = {}
if not redis.acl_check_cmd then return refused end
for _, command in ipairs(ARGV) do
  if not redis.acl_check_cmd(command, KEYS[1]) then refused[#refused + 1] = command end
end
return refused
`,
);
