import { type Setting, type SettingsWithDefaults, defaultsOf } from '../../config/setting.js';
import { InvalidInputError } from './errors.js';

/** Merges settings with defaults, and checks them. Missing and `undefined` settings get the default. */
export function checkedSettings<Settings extends object>(
  known: SettingsWithDefaults<Settings>,
  given: Partial<Settings> | undefined,
  name: string,
): Settings {
  const settings = defaultsOf<Settings>(known);
  for (const [key, value] of Object.entries(given ?? {})) {
    if (!Object.hasOwn(known, key)) {
      throw new InvalidInputError(`is no option; there are ${Object.keys(known).join(', ')}`, `${name}.${key}`);
    }
    if (value === undefined) continue;
    checkSetting(known[key as keyof Settings], value, `${name}.${key}`);
    settings[key as keyof Settings] = value as Settings[keyof Settings];
  }
  return settings;
}

export function checkSetting({ kind }: Setting, value: unknown, path: string): void {
  if (!kind.fits(value)) throw new InvalidInputError(`must be ${kind.allowed}`, path);
}
