import { ACCESS_PRESETS, type AccessPreset, type ApiKeyOptions, parseExpiry } from '../../config/auth-settings.js';
import { problemsOfKeys } from '../../config/check-auth-options.js';
import { ConfigurationError } from '../../config/configuration-error.js';
import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import { makeApiKey } from '../../sessions/auth/api-keys.js';
import type { CommandContext } from '../command-context.js';

/** Options of `api-key`. */
export interface ApiKeyCommandOptions {
  readonly preset?: AccessPreset | undefined;
  readonly user?: string | undefined;
  readonly app?: readonly string[] | undefined;
  readonly expires?: string | undefined;
}

/** The presets, for the help. */
export const PRESET_NAMES: readonly string[] = ACCESS_PRESETS;

/** Makes a key, and prints it once. The store is not asked. */
export async function apiKey(
  { output }: CommandContext,
  { preset = 'service', user, app: apps, expires }: ApiKeyCommandOptions,
  name: string,
): Promise<void> {
  const { key, hash } = makeApiKey();
  const entry: ApiKeyOptions = {
    name,
    preset,
    ...(user !== undefined && { user }),
    ...(apps && { apps }),
    ...(expires !== undefined && { expires }),
    hash,
  };
  const problems = problemsOfKeys([entry], 'api-key');
  if (problems.length > 0)
    throw new ConfigurationError(problems.map((problem) => problem.replace('api-key[0].', '--')));
  if (expires !== undefined && parseExpiry(expires) < Date.now())
    throw new InvalidInputError('is over: the key would never count', '--expires');
  output.note('The key, for the client. It is not shown again, and nobody can find it by its hash:');
  await output.result(key, { key, entry });
  output.note(`\nThe app gets, in auth: { apiKeys: [ … ] } or in AUTH_API_KEYS='[ … ]':\n${JSON.stringify(entry)}`);
}
