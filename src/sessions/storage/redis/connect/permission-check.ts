import { ConfigurationError } from '../../../../config/configuration-error.js';
import { type Script, defineScript } from '../script/script.js';
import { isNotPermitted, storeUnavailable } from './driver-errors.js';
import type { RedisClient } from './redis-options.js';
import { runScript } from './run-script.js';

export interface PermissionCheckOptions {
  readonly prefix: string;
  /** The name of the server in messages. */
  readonly server: string;
  readonly scripts: readonly Script[];
}

/**
 * Checks once that the user may run every command of the scripts. Scripts do not roll back, so a script that lacks a
 * permission would stop half way.
 */
export class PermissionCheck {
  readonly #commands: readonly string[];
  #isPassed = false;
  #running: Promise<void> | undefined;

  constructor(
    private readonly client: RedisClient,
    private readonly options: PermissionCheckOptions,
  ) {
    this.#commands = requiredCommands(options.scripts);
  }

  get isPassed(): boolean {
    return this.#isPassed;
  }

  /** Throws if a permission is missing. The next call checks again. */
  run(): Promise<void> {
    this.#running ??= this.#check().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #check(): Promise<void> {
    const refused = await this.#refusedCommands();
    if (refused.length > 0) {
      throw new ConfigurationError([
        `The user of Redis may not run ${refused.join(', ')} with keys that begin with ${JSON.stringify(this.options.prefix)}: grant it.`,
      ]);
    }
    this.#isPassed = true;
  }

  async #refusedCommands(): Promise<readonly string[]> {
    const args = [`${this.options.prefix}apps`, ...this.#commands];
    try {
      return (await runScript(this.client, CHECK_PERMISSIONS, 1, args)) as string[];
    } catch (error) {
      if (isNotPermitted(error)) return ['EVALSHA', 'EVAL'];
      throw storeUnavailable(error, false, this.options.server);
    }
  }
}

/** The commands that scripts run with `redis.call`. Commands that may fail are run with `redis.pcall`. */
function requiredCommands(scripts: readonly Script[]): string[] {
  const calls = scripts.flatMap(({ text }) => [...text.matchAll(/redis\.call\('(\w+)'/g)]);
  return [...new Set(calls.map(([, command = '']) => command))];
}

/**
 * Finds commands that the user may not run. Needs Redis 7; older servers return none.
 *
 * KEYS 1 any key of the store.
 * ARGV commands.
 * Returns the refused commands.
 */
export const CHECK_PERMISSIONS = defineScript(
  'check-permissions',
  String.raw`
local refused = {}
if not redis.acl_check_cmd then return refused end
for _, command in ipairs(ARGV) do
  if not redis.acl_check_cmd(command, KEYS[1]) then refused[#refused + 1] = command end
end
return refused
`,
);
