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
  /** The address it listens on. */
  readonly host: string;
  /** Names and pages of other origins that it answers to, besides its own. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly isRequestLogged: boolean;
  readonly throttle: { readonly limit: number; readonly ttlSeconds: number };
  readonly trustedProxies: number;
  readonly streams: { readonly maxAgeSeconds: number; readonly recheckSeconds: number; readonly stallSeconds: number };
  /** Limits of documents, their answers and WebSockets. */
  readonly graphql: {
    readonly maxTextBytes: number;
    readonly maxItems: number;
    readonly maxAnswerBytes: number;
    readonly maxMessageBytes: number;
    readonly handshakeSeconds: number;
    readonly maxConnections: number;
    readonly maxConnectionsPerAddress: number;
    readonly stallSeconds: number;
  };
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
    ...problemsOfAccess(env, own.values),
    ...problemsIn(sessions),
    ...problemsIn(summarizer),
  ];
  const isWrong = sessions instanceof ConfigurationError || summarizer instanceof ConfigurationError;
  if (isWrong || problems.length > 0) throw new ConfigurationError(problems);
  return { app: appFrom(own.values), sessions, summarizer };
}

function appFrom(values: CheckedVariables): AppConfig {
  const number = ({ name, otherwise }: Variable): number => Number(values.get(name) ?? otherwise);
  const list = ({ name }: Variable): string[] => (values.get(name) ?? []) as string[];
  const variables = APP_VARIABLES;
  return {
    port: number(variables.port),
    host: hostIn(values),
    allowedHosts: list(variables.allowedHosts),
    allowedOrigins: list(variables.allowedOrigins),
    isRequestLogged: values.get(variables.requestLog.name) !== false,
    throttle: { limit: number(variables.throttleLimit), ttlSeconds: number(variables.throttleTtlSeconds) },
    trustedProxies: number(variables.proxies),
    streams: {
      maxAgeSeconds: number(variables.streamMaxAgeSeconds),
      recheckSeconds: number(variables.streamRecheckSeconds),
      stallSeconds: number(variables.streamStallSeconds),
    },
    graphql: {
      maxTextBytes: number(variables.graphqlMaxTextBytes),
      maxItems: number(variables.graphqlMaxItems),
      maxAnswerBytes: number(variables.graphqlMaxAnswerBytes),
      maxMessageBytes: number(variables.webSocketMaxMessageBytes),
      handshakeSeconds: number(variables.webSocketHandshakeSeconds),
      maxConnections: number(variables.webSocketMaxConnections),
      maxConnectionsPerAddress: number(variables.webSocketMaxConnectionsPerAddress),
      stallSeconds: number(variables.streamStallSeconds),
    },
    healthTimeLimitMs: number(variables.healthTimeLimitMs),
    shutdown: {
      delaySeconds: number(variables.shutdownDelaySeconds),
      limitSeconds: number(variables.shutdownLimitSeconds),
    },
  };
}

function hostIn(values: CheckedVariables): string {
  const { name, otherwise } = APP_VARIABLES.host;
  const host = values.get(name) as string | undefined;
  return (host ?? otherwise).replaceAll(/^\[|\]$/g, '');
}

/** Whether nobody but this machine reaches what listens there. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/i.test(host);
}

/** This app has no access rule, so somebody has to say that this is meant wherever others can reach it. */
function problemsOfAccess(env: NodeJS.ProcessEnv, values: CheckedVariables): string[] {
  const isSaid = (env.SESSIONS_ACCESS?.trim() ?? '') !== '';
  const host = hostIn(values);
  const isReachable = !isLoopback(host);
  if (isSaid || (!isReachable && !isProduction(env))) return [];
  const where = isReachable ? `, and HOST is ${host}, where others reach it` : '';
  const orStayLocal = isReachable && !isProduction(env) ? 'leave HOST out to listen on 127.0.0.1 only, ' : '';
  return [
    `SESSIONS_ACCESS is missing; this app lets everybody touch every session${where}. Set it to open if that is decided in ` +
      `front of it, ${orStayLocal}or mount SessionsRestModule in an app of your own with a SessionAccess.`,
  ];
}

/** The configuration of the app under the name `app` of ConfigModule. */
export const appConfig = registerAs('app', () => configurationFrom(process.env).app);

/** That of its sessions, under the name that `sessionsConfig` has as well. */
export const sessionsOfApp = registerAs('sessions', () => configurationFrom(process.env).sessions);

/** That of their summaries. */
export const summarizerOfApp = registerAs('summarizer', () => configurationFrom(process.env).summarizer);
