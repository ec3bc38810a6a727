import { HIGHEST_PORT } from './redis-address.js';
import { flag, host, listOf, matching, secondsUpTo, wholeNumber } from './variable-kinds.js';
import type { Variable } from './variables.js';

const LONGEST_SECONDS = 86_400;

const shortTime = secondsUpTo(LONGEST_SECONDS, { canBeZero: true });

/** What begins so is meant for the app: a slip of the pen there must not go unnoticed. */
export const APP_PREFIXES = ['THROTTLE_', 'STREAM_', 'SHUTDOWN_', 'GRAPHQL_', 'WEBSOCKET_'];

/** What the app of `npm start` takes from its environment, beside its sessions and their summaries. */
export const APP_VARIABLES = {
  port: {
    name: 'PORT',
    kind: wholeNumber(0, HIGHEST_PORT),
    meaning: 'where it listens; 0 = any port that is free',
    otherwise: '3000',
  },
  host: {
    name: 'HOST',
    kind: host,
    meaning: 'the address it listens on; 0.0.0.0 = all of them. Any but a loopback address needs `SESSIONS_ACCESS`',
    otherwise: '127.0.0.1',
  },
  access: {
    name: 'SESSIONS_ACCESS',
    kind: matching(/^open$/, 'open, or left out'),
    meaning:
      'allows everyone who can reach the app to access every session; required in production, and if `HOST` is not a loopback address',
  },
  allowedHosts: {
    name: 'ALLOWED_HOSTS',
    kind: listOf(/^([^\s,:/*]+|\*)$/, 'host names without port, separated by commas, or * for any'),
    meaning: 'host names of the app, in addition to localhost and IP addresses',
  },
  allowedOrigins: {
    name: 'ALLOWED_ORIGINS',
    kind: listOf(/^https?:\/\/[^\s,/?#@*]+$/, 'origins such as https://app.example, separated by commas'),
    meaning: 'pages that may call the app from a browser, besides its own',
  },
  requestLog: {
    name: 'REQUEST_LOG',
    kind: flag,
    meaning: 'whether each request gets a line in the log',
    otherwise: 'true',
  },
  throttleLimit: {
    name: 'THROTTLE_LIMIT',
    kind: wholeNumber(),
    meaning: 'requests that one address may make in the time below; 0 = any number',
    otherwise: '6000',
  },
  throttleTtlSeconds: {
    name: 'THROTTLE_TTL_SECONDS',
    kind: wholeNumber(1, LONGEST_SECONDS),
    meaning: 'the time in which they are counted',
    otherwise: '60',
  },
  proxies: {
    name: 'TRUSTED_PROXIES',
    kind: wholeNumber(0, 100),
    meaning: 'number of proxies in front of the app that add to `X-Forwarded-For`; determines the address of a client',
    otherwise: '0',
  },
  streamMaxAgeSeconds: {
    name: 'STREAM_MAX_AGE_SECONDS',
    kind: shortTime,
    meaning: 'how old a stream may get before its reader has to connect again; 0 = any age',
    otherwise: '3600',
  },
  streamRecheckSeconds: {
    name: 'STREAM_RECHECK_SECONDS',
    kind: shortTime,
    meaning: 'how often the access to a stream is checked again; 0 = only when it begins',
    otherwise: '60',
  },
  streamStallSeconds: {
    name: 'STREAM_STALL_SECONDS',
    kind: shortTime,
    meaning: 'how long a reader may take for an event before its stream ends; 0 = no limit',
    otherwise: '60',
  },
  graphqlMaxTextBytes: {
    name: 'GRAPHQL_MAX_TEXT_BYTES',
    kind: wholeNumber(1),
    meaning: 'length of a GraphQL document; values go as variables',
    otherwise: '65536',
  },
  graphqlMaxItems: {
    name: 'GRAPHQL_MAX_ITEMS',
    kind: wholeNumber(1),
    meaning: 'events and sessions that one GraphQL document may ask for',
    otherwise: '10000',
  },
  graphqlMaxAnswerBytes: {
    name: 'GRAPHQL_MAX_ANSWER_BYTES',
    kind: wholeNumber(1),
    meaning: 'events and state that one GraphQL document may be answered with',
    otherwise: '33554432',
  },
  webSocketMaxMessageBytes: {
    name: 'WEBSOCKET_MAX_MESSAGE_BYTES',
    kind: wholeNumber(1),
    meaning: 'length of a message over a WebSocket',
    otherwise: '4194304',
  },
  webSocketHandshakeSeconds: {
    name: 'WEBSOCKET_HANDSHAKE_SECONDS',
    kind: secondsUpTo(LONGEST_SECONDS, { canBeZero: false }),
    meaning: 'how long a WebSocket may be open before it sends `connection_init`',
    otherwise: '5',
  },
  webSocketMaxConnections: {
    name: 'WEBSOCKET_MAX_CONNECTIONS',
    kind: wholeNumber(),
    meaning: 'WebSockets at the same time; 0 = any number',
    otherwise: '1000',
  },
  webSocketMaxConnectionsPerAddress: {
    name: 'WEBSOCKET_MAX_CONNECTIONS_PER_ADDRESS',
    kind: wholeNumber(),
    meaning: 'the same for one address, see `TRUSTED_PROXIES`; 0 = any number',
    otherwise: '100',
  },
  healthTimeLimitMs: {
    name: 'HEALTH_TIME_LIMIT_MS',
    kind: wholeNumber(1, 60_000),
    meaning: 'how long the store may take to answer `GET /health/ready`',
    otherwise: '2000',
  },
  shutdownDelaySeconds: {
    name: 'SHUTDOWN_DELAY_SECONDS',
    kind: shortTime,
    meaning: 'how long it is not ready, and still accepts requests, before it ends',
    otherwise: '0',
  },
  shutdownLimitSeconds: {
    name: 'SHUTDOWN_LIMIT_SECONDS',
    kind: shortTime,
    meaning: 'how long requests that are under way may take when it ends; what is left then is cut off',
    otherwise: '20',
  },
} as const satisfies Readonly<Record<string, Variable>>;
