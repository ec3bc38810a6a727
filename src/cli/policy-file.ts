import { readFile } from 'node:fs/promises';
import { CommanderError } from 'commander';
import { ConfigurationError } from '../config/configuration-error.js';
import type { RetentionSettings } from '../config/retention-settings.js';
import { SessionRetention } from '../sessions/session-retention.js';
import type { SessionService } from '../sessions/session.service.js';
import type { CommandContext } from './command-context.js';
import { EXIT } from './failures.js';

/** The policy in a file. Whoever uses it checks what it says. */
export async function readPolicy(file: string): Promise<RetentionSettings> {
  const text = await readFile(file, 'utf8');
  try {
    return JSON.parse(text) as RetentionSettings;
  } catch {
    throw new CommanderError(EXIT.usage, 'USAGE', `${file} is not JSON; write { "rules": [{ "keep": "2y" }] }`);
  }
}

/** The sessions of the store, of which those that the policy holds refuse to go, as in the app. Without a policy, those that the store holds. */
export async function sessionsUnderHold(context: CommandContext, file: string | undefined): Promise<SessionService> {
  const policy = file === undefined ? undefined : await readPolicy(file);
  const sessions = await context.sessions();
  if (!policy) return sessions;
  const retention = new SessionRetention({ ...policy, sessions });
  if (!policy.hold) throw new ConfigurationError([`--policy ${file} has no effect here, since it has no hold.`]);
  retention.start();
  return sessions;
}
