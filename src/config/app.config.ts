import { registerAs } from '@nestjs/config';
import { AUDIT_VARIABLES, type AuditConfig, auditFrom, problemsOfAudit } from './audit-settings.js';
import { AUTH_VARIABLES } from './auth-settings.js';
import { type AuthConfig, authFrom, problemsOfAuth } from './check-auth-options.js';
import { ConfigurationError, attempt, problemsIn } from './configuration-error.js';
import { type Reading, problemsOfNames, readVariables } from './read-variables.js';
import { isLoopback } from './loopback.js';
import { type SessionsConfig, isProduction, sessionsFromEnvironment } from './sessions-environment.js';
import {
  HIGHEST_PORT,
  type VariableSettings,
  flag,
  host,
  listOf,
  matching,
  namedVariables,
  secondsUpTo,
  text,
  wholeNumber,
} from './setting.js';
import { type SummarizerConfig, summarizerFromEnvironment } from './summarizer.config.js';

const LONGEST_SECONDS = 86_400;

const shortTime = secondsUpTo(LONGEST_SECONDS, { canBeZero: true });

/** Prefixes of variables of the app. Unknown names with these are refused. */
const PREFIXES = ['AUTH_JWT_', 'AUTH_API_', 'THROTTLE_', 'BODY_', 'STREAM_', 'SHUTDOWN_', 'GRAPHQL_', 'WEBSOCKET_'];

/** The variables of the app of `npm start`, in addition to those of sessions and summaries. */
const SETTINGS = {
  PORT: {
    kind: wholeNumber(0, HIGHEST_PORT),
    meaning: 'where it listens; 0 = any port that is free',
    default: 3000,
  },
  HOST: {
    kind: host,
    meaning:
      'the address it listens on; 0.0.0.0 = all of them. Any but a loopback address needs a sign-in (`AUTH_…`) or `SESSIONS_ACCESS`',
    default: '127.0.0.1',
  },
  SESSIONS_ACCESS: {
    kind: matching(/^open$/, 'open, or left out'),
    meaning:
      'allows everyone who can reach the app to access every session; without a sign-in (`AUTH_…`) it is required in production, and if `HOST` is not a loopback address',
  },
  ALLOWED_HOSTS: {
    kind: listOf(/^([^\s,:/*]+|\*)$/, 'host names without port, separated by commas, or * for any'),
    meaning: 'host names of the app, in addition to localhost and IP addresses',
  },
  ALLOWED_ORIGINS: {
    kind: listOf(/^https?:\/\/[^\s,/?#@*]+$/, 'origins such as https://app.example, separated by commas'),
    meaning: 'pages that may call the app from a browser, besides its own',
  },
  REQUEST_LOG: {
    kind: flag,
    meaning: 'whether each request gets a line in the log',
    default: true,
  },
  THROTTLE_LIMIT: {
    kind: wholeNumber(),
    meaning: 'requests that one address may make in the time below; 0 = any number',
    default: 6000,
  },
  THROTTLE_TTL_SECONDS: {
    kind: wholeNumber(1, LONGEST_SECONDS),
    meaning: 'the time in which they are counted',
    default: 60,
  },
  TRUSTED_PROXIES: {
    kind: wholeNumber(0, 100),
    meaning: 'number of proxies in front of the app that add to `X-Forwarded-For`; determines the address of a client',
    default: 0,
  },
  BODY_MAX_BYTES_IN_FLIGHT: {
    kind: wholeNumber(),
    meaning: 'bytes of bodies that are read or worked on at once; more are answered with 429; 0 = no limit',
    default: 67_108_864,
  },
  BODY_MAX_BYTES_IN_FLIGHT_PER_ADDRESS: {
    kind: wholeNumber(),
    meaning: 'the same for one address, see `TRUSTED_PROXIES`; 0 = no limit',
    default: 8_388_608,
  },
  REQUEST_TIMEOUT_SECONDS: {
    kind: secondsUpTo(LONGEST_SECONDS, { canBeZero: false }),
    meaning: 'how long a request may take to arrive',
    default: 30,
  },
  MAX_CONNECTIONS: {
    kind: wholeNumber(),
    meaning: 'connections at the same time; more are closed at once; 0 = any number',
    default: 2000,
  },
  STREAM_MAX_AGE_SECONDS: {
    kind: shortTime,
    meaning: 'how old a stream may get before its reader has to connect again; 0 = any age',
    default: 3600,
  },
  STREAM_RECHECK_SECONDS: {
    kind: shortTime,
    meaning: 'how often the access to a stream is checked again; 0 = only when it begins',
    default: 60,
  },
  STREAM_STALL_SECONDS: {
    kind: shortTime,
    meaning: 'how long a reader may take for an event of a stream, or read nothing of another answer; 0 = no limit',
    default: 60,
  },
  STREAM_MAX_BUFFERED_BYTES: {
    kind: wholeNumber(),
    meaning:
      'bytes that all answers, streams included, hold for their readers; one address may have a quarter, or one answer; 0 = no limit',
    default: 67_108_864,
  },
  STREAM_MAX_PER_ADDRESS: {
    kind: wholeNumber(),
    meaning:
      'streams of server-sent events of one address, see `TRUSTED_PROXIES`; more are answered with 429; 0 = any number',
    default: 100,
  },
  GRAPHQL_MAX_TEXT_BYTES: {
    kind: wholeNumber(1),
    meaning: 'length of a GraphQL document; values go as variables',
    default: 65_536,
  },
  GRAPHQL_MAX_ITEMS: {
    kind: wholeNumber(1),
    meaning: 'events and sessions that one GraphQL document may ask for',
    default: 10_000,
  },
  GRAPHQL_MAX_ANSWER_BYTES: {
    kind: wholeNumber(1),
    meaning: 'events and state that one GraphQL document may be answered with',
    default: 8_388_608,
  },
  WEBSOCKET_MAX_MESSAGE_BYTES: {
    kind: wholeNumber(1),
    meaning: 'length of a message over a WebSocket',
    default: 4_194_304,
  },
  WEBSOCKET_HANDSHAKE_SECONDS: {
    kind: secondsUpTo(LONGEST_SECONDS, { canBeZero: false }),
    meaning: 'how long a WebSocket may be open before it sends `connection_init`',
    default: 5,
  },
  WEBSOCKET_MAX_CONNECTIONS: {
    kind: wholeNumber(),
    meaning: 'WebSockets at the same time; 0 = any number',
    default: 1000,
  },
  WEBSOCKET_MAX_CONNECTIONS_PER_ADDRESS: {
    kind: wholeNumber(),
    meaning: 'the same for one address, see `TRUSTED_PROXIES`; 0 = any number',
    default: 100,
  },
  METRICS: {
    kind: flag,
    meaning: 'whether `GET /metrics` has metrics for Prometheus',
    default: false,
  },
  INSPECTOR_TRACE_URL: {
    kind: text,
    meaning:
      'where your collector shows the traces of a session: an address with `{sessionId}` or `{invocationId}`; then the inspector links to it',
  },
  SEARCH: {
    kind: flag,
    meaning: 'whether users can search in their sessions; a SQL store then keeps an index',
    default: false,
  },
  DEMO_AGENT: {
    kind: flag,
    meaning: 'whether the app `demo` has a small agent to try',
    otherwise: 'true, but false in production',
  },
  HEALTH_TIME_LIMIT_MS: {
    kind: wholeNumber(1, 60_000),
    meaning: 'how long the store may take to answer `GET /health/ready`',
    default: 2000,
  },
  SHUTDOWN_DELAY_SECONDS: {
    kind: shortTime,
    meaning: 'how long it is not ready, and still accepts requests, before it ends',
    default: 0,
  },
  SHUTDOWN_LIMIT_SECONDS: {
    kind: shortTime,
    meaning: 'how long requests that are under way may take when it ends; what is left then is cut off',
    default: 20,
  },
} as const satisfies VariableSettings;

export const APP_VARIABLES = [...namedVariables('app', SETTINGS), ...AUDIT_VARIABLES, ...AUTH_VARIABLES];

/** The settings of the app. */
export interface AppConfig {
  readonly port: number;
  /** The address that it listens on. */
  readonly host: string;
  /** Who may sign in. Undefined: everyone has access. */
  readonly auth?: AuthConfig | undefined;
  /** Host names and origins that it accepts, in addition to its own. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly isRequestLogged: boolean;
  readonly throttle: { readonly limit: number; readonly ttlSeconds: number };
  readonly trustedProxies: number;
  readonly bodies: {
    readonly maxBytesInFlight: number;
    readonly maxBytesInFlightPerAddress: number;
    readonly requestTimeoutSeconds: number;
  };
  readonly maxConnections: number;
  readonly streams: {
    readonly maxAgeSeconds: number;
    readonly recheckSeconds: number;
    readonly stallSeconds: number;
    readonly maxBufferedBytes: number;
    readonly maxStreamsPerClient: number;
    readonly trustedProxies: number;
  };
  /** Limits of documents, responses and WebSockets. */
  readonly graphql: {
    readonly maxTextBytes: number;
    readonly maxItems: number;
    readonly maxAnswerBytes: number;
    readonly maxMessageBytes: number;
    readonly handshakeSeconds: number;
    readonly maxConnections: number;
    readonly maxConnectionsPerAddress: number;
    readonly stallSeconds: number;
    readonly maxBufferedBytes: number;
  };
  /** Whether there is `GET /metrics`. */
  readonly hasMetrics: boolean;
  readonly audit?: AuditConfig | undefined;
  /** Where the traces of sessions are. */
  readonly traceUrl?: string | undefined;
  readonly hasSearch: boolean;
  readonly hasDemoAgent: boolean;
  readonly healthTimeLimitMs: number;
  readonly shutdown: { readonly delaySeconds: number; readonly limitSeconds: number };
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
    ...problemsOfAccess(env, app),
    ...problemsIn(sessions),
    ...problemsIn(summarizer),
  ];
  const isWrong = sessions instanceof ConfigurationError || summarizer instanceof ConfigurationError;
  if (isWrong || problems.length > 0) throw new ConfigurationError(problems);
  return { app, sessions, summarizer };
}

const OPEN_WITH_SIGN_IN =
  'SESSIONS_ACCESS lets everyone in, so that AUTH_… would have no effect; remove one of the two.';

type Name = keyof typeof SETTINGS;

function appFrom(reading: Reading, env: NodeJS.ProcessEnv): AppConfig {
  const { values } = reading;
  const valueOf = (name: Name): unknown => values.get(name) ?? (SETTINGS as VariableSettings)[name]?.default;
  const number = (name: Name): number => Number(valueOf(name));
  const list = (name: Name): string[] => (valueOf(name) ?? []) as string[];
  return {
    port: number('PORT'),
    host: String(valueOf('HOST')).replaceAll(/^\[|\]$/g, ''),
    auth: authFrom(reading),
    allowedHosts: list('ALLOWED_HOSTS'),
    allowedOrigins: list('ALLOWED_ORIGINS'),
    isRequestLogged: valueOf('REQUEST_LOG') === true,
    throttle: { limit: number('THROTTLE_LIMIT'), ttlSeconds: number('THROTTLE_TTL_SECONDS') },
    trustedProxies: number('TRUSTED_PROXIES'),
    bodies: {
      maxBytesInFlight: number('BODY_MAX_BYTES_IN_FLIGHT'),
      maxBytesInFlightPerAddress: number('BODY_MAX_BYTES_IN_FLIGHT_PER_ADDRESS'),
      requestTimeoutSeconds: number('REQUEST_TIMEOUT_SECONDS'),
    },
    maxConnections: number('MAX_CONNECTIONS'),
    streams: {
      maxAgeSeconds: number('STREAM_MAX_AGE_SECONDS'),
      recheckSeconds: number('STREAM_RECHECK_SECONDS'),
      stallSeconds: number('STREAM_STALL_SECONDS'),
      maxBufferedBytes: number('STREAM_MAX_BUFFERED_BYTES'),
      maxStreamsPerClient: number('STREAM_MAX_PER_ADDRESS'),
      trustedProxies: number('TRUSTED_PROXIES'),
    },
    graphql: {
      maxTextBytes: number('GRAPHQL_MAX_TEXT_BYTES'),
      maxItems: number('GRAPHQL_MAX_ITEMS'),
      maxAnswerBytes: number('GRAPHQL_MAX_ANSWER_BYTES'),
      maxMessageBytes: number('WEBSOCKET_MAX_MESSAGE_BYTES'),
      handshakeSeconds: number('WEBSOCKET_HANDSHAKE_SECONDS'),
      maxConnections: number('WEBSOCKET_MAX_CONNECTIONS'),
      maxConnectionsPerAddress: number('WEBSOCKET_MAX_CONNECTIONS_PER_ADDRESS'),
      stallSeconds: number('STREAM_STALL_SECONDS'),
      maxBufferedBytes: number('STREAM_MAX_BUFFERED_BYTES'),
    },
    hasMetrics: valueOf('METRICS') === true,
    audit: auditFrom(reading),
    traceUrl: valueOf('INSPECTOR_TRACE_URL') as string | undefined,
    hasSearch: valueOf('SEARCH') === true,
    hasDemoAgent: valueOf('DEMO_AGENT') === true || (valueOf('DEMO_AGENT') === undefined && !isProduction(env)),
    healthTimeLimitMs: number('HEALTH_TIME_LIMIT_MS'),
    shutdown: { delaySeconds: number('SHUTDOWN_DELAY_SECONDS'), limitSeconds: number('SHUTDOWN_LIMIT_SECONDS') },
  };
}

/** Without a sign-in, SESSIONS_ACCESS must confirm that everyone who can reach the app may have all sessions. */
function problemsOfAccess(env: NodeJS.ProcessEnv, { auth, host: address }: AppConfig): string[] {
  const isSaid = (env.SESSIONS_ACCESS?.trim() ?? '') !== '';
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
