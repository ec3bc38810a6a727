import { chooseProvider, sharedVariables } from './choose-provider.js';
import { ConfigurationError, attempt, problemsIn } from './configuration-error.js';
import { type CheckedVariables, readEnvironment } from './environment.js';
import type { HistorySettings } from './history.js';
import type { SessionLimits } from './limits.js';
import { PRESETS, type PresetName, presetFor } from './presets.js';
import { storeFromEnvironment } from './store-from-environment.js';
import type { StoreSettings } from './store-settings.js';
import type { TtlSettings } from './ttl.js';
import { problemsOfNames } from './unknown-variables.js';
import {
  PREFIX,
  SETTING_VARIABLES,
  STORE_VARIABLES,
  type SettingVariable,
  VARIABLES,
  type Variable,
  isOurs,
} from './variables.js';

/** The settings of sessions that environment variables can set. */
export type SessionsConfig = StoreSettings & {
  readonly history?: Partial<HistorySettings> | undefined;
  readonly ttl?: Partial<TtlSettings> | undefined;
  readonly limits?: Partial<SessionLimits> | undefined;
};

/** Options of the reader. */
export interface EnvironmentReading {
  /** Names with `SESSIONS_` that other code reads. Other unknown names are problems. */
  readonly alsoKnown?: readonly string[] | undefined;
}

/**
 * Reads the settings of sessions from environment variables. `docs/configuration.md` lists them.
 *
 * @throws ConfigurationError that names each variable that is wrong, missing or unknown
 * @example
 * SessionsModule.forRoot(sessionsFromEnvironment(process.env));
 */
export function sessionsFromEnvironment(
  env: NodeJS.ProcessEnv,
  { alsoKnown = [] }: EnvironmentReading = {},
): SessionsConfig {
  const ours = readEnvironment(env, VARIABLES.filter(isOurs));
  const said = <Value>({ name }: Variable): Value | undefined => ours.values.get(name) as Value | undefined;
  const preset = PRESETS[said<PresetName>(STORE_VARIABLES.preset) ?? presetFor(env.NODE_ENV)];
  const isSet = ({ name }: Variable): boolean => ours.values.has(name) || ours.problems.has(name);
  const chosen = chooseProvider(said(STORE_VARIABLES.provider), VARIABLES.filter(isSet), preset);
  const shared = readEnvironment(env, sharedVariables(chosen, isSet));
  const values = new Map([...ours.values, ...shared.values]);
  const unreadable = new Map([...ours.problems, ...shared.problems]);
  const store = attempt(() => storeFromEnvironment(values, chosen.provider, preset));
  const problems = [
    ...problemsOfNames(env, [...VARIABLES.map(({ name }) => name), ...alsoKnown], PREFIX),
    ...unreadable.values(),
    ...chosen.problems,
    // A wrong value does not count as missing.
    ...problemsIn(store).filter((problem) => !unreadable.has(problem.split(' ')[0] ?? '')),
  ];
  if (store instanceof ConfigurationError || problems.length > 0) throw new ConfigurationError(problems);
  return {
    ...store,
    history: settings('history', values),
    ttl: settings('ttl', values),
    limits: settings('limits', values),
  };
}

function settings(group: SettingVariable['group'], values: CheckedVariables): Record<string, unknown> {
  const given = SETTING_VARIABLES.filter((variable) => variable.group === group && values.has(variable.name));
  return Object.fromEntries(given.map(({ name, setting }) => [setting, values.get(name)]));
}
