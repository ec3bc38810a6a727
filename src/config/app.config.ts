import { registerAs } from '@nestjs/config';
import { APP_ROWS } from './app-rows.js';
import { AUDIT_VARIABLES, type AuditConfig, auditFrom, problemsOfAudit } from './audit-settings.js';
import { AUTH_VARIABLES } from './auth-settings.js';
import { type AuthConfig, authFrom, problemsOfAuth } from './check-auth-options.js';
import { ConfigurationError, attempt, problemsIn } from './configuration-error.js';
import { type Reading, problemsOfNames, readVariables } from './read-variables.js';
import { isLoopback } from './loopback.js';
import { type SessionsConfig, isProduction, sessionsFromEnvironment } from './sessions-environment.js';
import { type SummarizerConfig, summarizerFromEnvironment } from './summarizer-environment.js';
import { type ValuesOf, valuesIn, variablesIn } from './variable-rows.js';

/** Prefixes of variables of the app. Unknown names with these are refused. */
const PREFIXES = ['AUTH_JWT_', 'AUTH_API_', 'THROTTLE_', 'BODY_', 'STREAM_', 'SHUTDOWN_', 'GRAPHQL_', 'WEBSOCKET_'];

export const APP_VARIABLES = [...variablesIn(APP_ROWS, 'app'), ...AUDIT_VARIABLES, ...AUTH_VARIABLES];

/** The settings of the app. */
export interface AppConfig extends ValuesOf<typeof APP_ROWS> {
  readonly hasDemoAgent: boolean;
  /** Who may sign in. Undefined: everyone has access. */
  readonly auth?: AuthConfig | undefined;
  readonly audit?: AuditConfig | undefined;
}

/** Everything that the app needs to start. */
export interface Configuration {
  readonly app: AppConfig;
  readonly sessions: SessionsConfig;
  readonly summarizer: SummarizerConfig;
}

/** Reads the whole configuration. Reports all problems at once, by variable. */
export function configurationFrom(env: NodeJS.ProcessEnv): Configuration {
  const reading = readVariables(env, APP_VARIABLES);
  const app = appFrom(reading, env);
  const sessions = attempt(() => sessionsFromEnvironment(env, { alsoKnown: ['SESSIONS_ACCESS'] }));
  const summarizer = attempt(() => summarizerFromEnvironment(env));
  const names = APP_VARIABLES.map(({ name }) => name);
  const problems = [
    ...reading.problems.values(),
    ...PREFIXES.flatMap((prefix) => problemsOfNames(env, names, prefix)),
    ...problemsOfAudit(reading, env),
    ...problemsOfAccess(env, app, reading),
    ...problemsIn(sessions),
    ...problemsIn(summarizer),
  ];
  const isWrong = sessions instanceof ConfigurationError || summarizer instanceof ConfigurationError;
  if (isWrong || problems.length > 0) throw new ConfigurationError(problems);
  return { app, sessions, summarizer };
}

const OPEN_WITH_SIGN_IN =
  'SESSIONS_ACCESS lets everyone in, so that AUTH_… would have no effect; remove one of the two.';

function appFrom(reading: Reading, env: NodeJS.ProcessEnv): AppConfig {
  const values = valuesIn(APP_ROWS, reading.values);
  const hasDemoAgent = values.hasDemoAgent ?? !isProduction(env);
  return { ...values, hasDemoAgent, auth: authFrom(reading), audit: auditFrom(reading) };
}

/** Without a sign-in, SESSIONS_ACCESS must confirm that everyone who can reach the app may have all sessions. */
function problemsOfAccess(env: NodeJS.ProcessEnv, app: AppConfig, { problems }: Reading): string[] {
  const { access, auth, host: address } = app;
  const isSaid = access !== undefined || problems.has('SESSIONS_ACCESS');
  if (auth) return isSaid ? [OPEN_WITH_SIGN_IN, ...problemsOfAuth(auth)] : problemsOfAuth(auth);
  const isReachable = !isLoopback(address);
  if (isSaid || (!isReachable && !isProduction(env))) return [];
  const where = isReachable ? `, and HOST is ${address}, where others reach it` : '';
  const orStayLocal = isReachable && !isProduction(env) ? 'leave HOST out to listen on 127.0.0.1 only, ' : '';
  return [
    `SESSIONS_ACCESS is missing; this app gives everyone access to all sessions${where}. Set it to open if that is decided in ` +
      `front of it, ${orStayLocal}or let users sign in by AUTH_JWT_… or AUTH_API_KEYS.`,
  ];
}

/** The configuration of the app under the name `app` of ConfigModule. */
export const appConfig = registerAs('app', () => configurationFrom(process.env).app);

/** The configuration of its sessions, under the same name as `sessionsConfig`. */
export const sessionsOfApp = registerAs('sessions', () => configurationFrom(process.env).sessions);

/** The configuration of their summaries. */
export const summarizerOfApp = registerAs('summarizer', () => configurationFrom(process.env).summarizer);
