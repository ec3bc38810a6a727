import { registerAs } from '@nestjs/config';
import { APP_PREFIXES, APP_VARIABLES } from './app-variables.js';
import { ConfigurationError, attempt, problemsIn } from './configuration-error.js';
import { type CheckedVariables, readEnvironment } from './environment.js';
import { isProduction } from './presets.js';
import { type SessionsConfig, sessionsFromEnvironment } from './sessions-from-environment.js';
import { type SummarizerConfig, summarizerFromEnvironment } from './summarizer-from-environment.js';
import { problemsOfNames } from './unknown-variables.js';
import type { Variable } from './variables.js';

/** What the app itself, beside its sessions, takes from its environment. */
export interface AppConfig {
  readonly port: number;
  readonly isRequestLogged: boolean;
  readonly throttle: { readonly limit: number; readonly ttlSeconds: number };
  readonly trustedProxies: number;
  readonly healthTimeLimitMs: number;
  readonly shutdown: { readonly delaySeconds: number; readonly limitSeconds: number };
}

/** What the app needs to start. */
export interface Configuration {
  readonly app: AppConfig;
  readonly sessions: SessionsConfig;
  readonly summarizer: SummarizerConfig;
}

/** Reads all that is needed; what is wrong with any of it is said at once, variable by variable. */
export function configurationFrom(env: NodeJS.ProcessEnv): Configuration {
  const own = readEnvironment(env, Object.values(APP_VARIABLES));
  const sessions = attempt(() => sessionsFromEnvironment(env, { alsoKnown: [APP_VARIABLES.access.name] }));
  const summarizer = attempt(() => summarizerFromEnvironment(env));
  const names = Object.values(APP_VARIABLES).map(({ name }) => name);
  const problems = [
    ...own.problems.values(),
    ...APP_PREFIXES.flatMap((prefix) => problemsOfNames(env, names, prefix)),
    ...problemsOfAccess(env),
    ...problemsIn(sessions),
    ...problemsIn(summarizer),
  ];
  const isWrong = sessions instanceof ConfigurationError || summarizer instanceof ConfigurationError;
  if (isWrong || problems.length > 0) throw new ConfigurationError(problems);
  return { app: appFrom(own.values), sessions, summarizer };
}

function appFrom(values: CheckedVariables): AppConfig {
  const number = ({ name, otherwise }: Variable): number => Number(values.get(name) ?? otherwise);
  const variables = APP_VARIABLES;
  return {
    port: number(variables.port),
    isRequestLogged: values.get(variables.requestLog.name) !== false,
    throttle: { limit: number(variables.throttleLimit), ttlSeconds: number(variables.throttleTtlSeconds) },
    trustedProxies: number(variables.proxies),
    healthTimeLimitMs: number(variables.healthTimeLimitMs),
    shutdown: {
      delaySeconds: number(variables.shutdownDelaySeconds),
      limitSeconds: number(variables.shutdownLimitSeconds),
    },
  };
}

function problemsOfAccess(env: NodeJS.ProcessEnv): string[] {
  const isSaid = (env.SESSIONS_ACCESS?.trim() ?? '') !== '';
  if (isSaid || !isProduction(env)) return [];
  return [
    'SESSIONS_ACCESS is missing; this app lets everybody touch every session. Set it to open if that is decided in ' +
      'front of it, or mount SessionsRestModule in an app of your own with a SessionAccess.',
  ];
}

/** The configuration of the app under the name `app` of ConfigModule. */
export const appConfig = registerAs('app', () => configurationFrom(process.env).app);

/** That of its sessions, under the name that `sessionsConfig` has as well. */
export const sessionsOfApp = registerAs('sessions', () => configurationFrom(process.env).sessions);

/** That of their summaries. */
export const summarizerOfApp = registerAs('summarizer', () => configurationFrom(process.env).summarizer);
