import { ConfigurationError } from '../../../config/configuration-error.js';
import { isNotPermitted, storeUnavailable } from './driver-errors.js';
import type { RedisClient } from './redis-options.js';
import { runScript } from './run-script.js';
import { ALL_SCRIPTS } from './scripts/all-scripts.js';
import { CHECK_RIGHTS } from './scripts/check-rights.js';

/** What scripts cannot do without; what they only try is written with `pcall`. */
const COMMANDS = [
  ...new Set(ALL_SCRIPTS.flatMap(({ text }) => Array.from(text.matchAll(/redis\.call\('(\w+)'/g), commandIn))),
];

/** Sees to it that no script is refused a command half way: scripts do not roll back. */
export class RightsCheck {
  #isPassed = false;
  #underWay: Promise<void> | undefined;

  constructor(
    private readonly client: RedisClient,
    private readonly prefix: string,
  ) {}

  get isPassed(): boolean {
    return this.#isPassed;
  }

  /** Throws where a right is missing; the next call looks again. */
  pass(): Promise<void> {
    this.#underWay ??= this.#look().finally(() => (this.#underWay = undefined));
    return this.#underWay;
  }

  async #look(): Promise<void> {
    const refused = await this.#refusedCommands();
    if (refused.length > 0) {
      throw new ConfigurationError([
        `The user of Redis may not run ${refused.join(', ')} with keys that begin with ${JSON.stringify(this.prefix)}: grant it.`,
      ]);
    }
    this.#isPassed = true;
  }

  async #refusedCommands(): Promise<readonly string[]> {
    try {
      return (await runScript(this.client, CHECK_RIGHTS, 1, [`${this.prefix}apps`, ...COMMANDS])) as string[];
    } catch (error) {
      if (isNotPermitted(error)) return ['EVALSHA', 'EVAL'];
      throw storeUnavailable(error, false);
    }
  }
}

function commandIn([, command = '']: RegExpMatchArray): string {
  return command;
}
