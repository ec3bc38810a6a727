import { ConfigurationError } from '../../config/configuration-error.js';
import { DEFAULT_HISTORY } from '../../config/history.js';
import { DEFAULT_LIMITS } from '../../config/limits.js';
import { DEFAULT_TTL } from '../../config/ttl.js';
import { InvalidInputError } from '../domain/errors.js';
import { checkedSettings } from '../domain/settings.js';
import { problemsOfStore, unknownNames } from './check-store-options.js';
import { COMMON_VALUES, isRecord, problemsOfValues, shown } from './check-values.js';

/** Options besides the groups of settings. */
const NAMES = [
  'provider',
  'redis',
  'database',
  'storage',
  'cleanup',
  'watchPollMs',
  'clock',
  'newId',
  'onUnsavedState',
];
const GROUPS = { history: DEFAULT_HISTORY, ttl: DEFAULT_TTL, limits: DEFAULT_LIMITS };

/**
 * Checks options given by code, before anything is opened. Reports all problems at once.
 *
 * @throws ConfigurationError
 */
export function checkModuleOptions(options: unknown): void {
  if (!isRecord(options)) {
    throw new ConfigurationError([
      "The options are missing: forRoot, or the factory of forRootAsync, has to give them, such as { provider: 'memory' }.",
    ]);
  }
  const problems = [
    ...unknownNames(options, [...NAMES, ...Object.keys(GROUPS)], 'is no option'),
    ...problemsOfStore(options),
    ...Object.entries(GROUPS).flatMap(([group, defaults]) => problemsOfGroup(group, defaults, options[group])),
    ...problemsOfValues(options, COMMON_VALUES, ''),
  ];
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/** Checks each setting separately, so that one problem does not hide the next. */
function problemsOfGroup<Settings extends object>(group: string, defaults: Settings, given: unknown): string[] {
  if (given === undefined) return [];
  if (!isRecord(given)) return [`${group} is ${JSON.stringify(given)}; it must be an object of settings.`];
  return Object.entries(given).flatMap(([name, value]) => {
    if (!Object.hasOwn(defaults, name)) {
      return [`${group}.${name} is no setting; there are ${Object.keys(defaults).join(', ')}.`];
    }
    return problemOfSetting(() => checkedSettings<object>(defaults, { [name]: value }, group), value);
  });
}

function problemOfSetting(check: () => unknown, value: unknown): string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof InvalidInputError) || error.path === undefined) throw error;
    const what = error.message.slice(error.path.length + 2);
    return [`${error.path} is ${shown(value)}; it ${what}.`];
  }
}
