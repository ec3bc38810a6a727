import { InvalidInputError } from './errors.js';

/**
 * Settings with defaults for what is left out, or given as `undefined` as a configuration service does for
 * what it does not know. Numbers are whole and not negative, but for seconds, which may be parts of one.
 */
export function checkedSettings<Settings extends object>(
  defaults: Settings,
  given: Partial<Settings> | undefined,
  name: string,
): Settings {
  const settings = { ...defaults };
  for (const [key, value] of Object.entries(given ?? {})) {
    if (!Object.hasOwn(defaults, key)) {
      throw new InvalidInputError(`is no setting; there are ${Object.keys(defaults).join(', ')}`, `${name}.${key}`);
    }
    if (value === undefined) continue;
    const problem = settingProblem(key, value, defaults[key as keyof Settings]);
    if (problem) throw new InvalidInputError(problem, `${name}.${key}`);
    settings[key as keyof Settings] = value as Settings[keyof Settings];
  }
  return settings;
}

function settingProblem(key: string, value: unknown, likeDefault: unknown): string | undefined {
  if (typeof value !== typeof likeDefault) return `must be a ${typeof likeDefault}`;
  if (typeof value !== 'number') return undefined;
  const fits = key.endsWith('Seconds') ? Number.isFinite(value) : Number.isSafeInteger(value);
  if (fits && value >= 0) return undefined;
  return `must be a ${key.endsWith('Seconds') ? 'number' : 'whole number'} from 0 on`;
}
