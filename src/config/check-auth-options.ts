import {
  API_KEYS_SETTING,
  API_KEY_SETTINGS,
  AUTH_VARIABLES,
  type ApiKeyOptions,
  JWT_SETTINGS,
  type JwtOptions,
} from './auth-settings.js';
import { type Reading, optionsIn } from './read-variables.js';
import { PLAIN_NAMES, problemsOfGroup } from './option-checks.js';
import { describeSettingProblem } from './setting.js';

/** What is wrong with the options of tokens, by the names of options or of variables. */
export function problemsOfJwt(
  jwt: Partial<JwtOptions>,
  nameOf = (option: string): string => `auth.jwt.${option}`,
): string[] {
  const names = { ...PLAIN_NAMES, of: (path: string) => nameOf(path.replace(/^auth\.jwt\./, '')) };
  const problems = problemsOfGroup('auth.jwt', JWT_SETTINGS, jwt, names);
  if (problems.length > 0) return problems;
  const { jwks, publicKeys, issuer, audience } = jwt;
  if ((jwks === undefined) === (publicKeys === undefined)) {
    problems.push(`${nameOf('jwks')} or ${nameOf('publicKeys')} is needed, and one of them only.`);
  }
  if (issuer === undefined)
    problems.push(`${nameOf('issuer')} is missing; tokens of everybody else are refused by it.`);
  if (audience === undefined)
    problems.push(`${nameOf('audience')} is missing; tokens for other apps are refused by it.`);
  return problems;
}

/** What is wrong with API keys. Never shows a hash: somebody may have written the key. */
export function problemsOfKeys(keys: readonly ApiKeyOptions[], name = 'auth.apiKeys'): string[] {
  const problem = describeSettingProblem(name, API_KEYS_SETTING, keys);
  if (problem !== undefined) return [problem];
  const each = keys.flatMap((key, index) => {
    const place = `${name}[${index}]`;
    const problems = problemsOfGroup(place, API_KEY_SETTINGS, key);
    if (problems.length > 0) return problems;
    const missing = (['name', 'hash', 'preset'] as const).filter((field) => key[field] === undefined);
    if (missing.length > 0) return missing.map((field) => `${place}.${field} is missing.`);
    const isOfOne = key.preset === 'client' || key.preset === 'readonly';
    return isOfOne && key.user === undefined
      ? [`${place}.user is missing; a key of the preset ${key.preset} is for one user.`]
      : [];
  });
  if (each.length > 0) return each;
  return (['name', 'hash'] as const).flatMap((field) => {
    const isTwice = new Set(keys.map((key) => key[field])).size < keys.length;
    return isTwice ? [`${name} has the same ${field} twice.`] : [];
  });
}

/** Who may sign in to the app of `npm start`, by its variables. */
export interface AuthConfig {
  readonly jwt?: JwtOptions | undefined;
  readonly apiKeys?: readonly ApiKeyOptions[] | undefined;
}

/** Undefined if no variable says so. */
export function authFrom({ values }: Reading): AuthConfig | undefined {
  const jwt = optionsIn(values, AUTH_VARIABLES, 'jwt');
  const apiKeys = values.get('AUTH_API_KEYS') as AuthConfig['apiKeys'];
  const hasTokens = Object.keys(jwt).length > 0;
  if (!hasTokens && apiKeys === undefined) return undefined;
  return { ...(hasTokens && { jwt: jwt as unknown as JwtOptions }), ...(apiKeys && { apiKeys }) };
}

/** What is wrong with them together. */
export function problemsOfAuth({ jwt, apiKeys }: AuthConfig): string[] {
  const ofTokens = jwt ? problemsOfJwt(jwt, variableOf) : [];
  return [...ofTokens, ...(apiKeys ? problemsOfKeys(apiKeys, 'AUTH_API_KEYS') : [])];
}

function variableOf(option: string): string {
  return AUTH_VARIABLES.find(({ path }) => path === `jwt.${option}`)?.name ?? option;
}
