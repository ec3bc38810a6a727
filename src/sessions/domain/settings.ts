import { InvalidInputError } from './errors.js';

/**
 * Merges settings with defaults. Missing and `undefined` settings get the default. Numbers are whole and not negative;
 * seconds may have fractions.
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
