import { HIGHEST_PORT, type Kind, flag, host, listOf, matching, secondsUpTo, text, wholeNumber } from './setting.js';
import type { Rows } from './variable-rows.js';

const LONGEST_SECONDS = 86_400;

const shortTime = secondsUpTo(LONGEST_SECONDS, { canBeZero: true });

/** Node listens on IPv6 addresses without brackets. */
const address: Kind<string> = { ...host, read: (given) => given.replaceAll(/^\[|\]$/g, '') };

/** The variables of the app of `npm start`, each at the place of its value in `AppConfig`, in the order of `.env.example`. */
export const APP_ROWS = {
  port: {
    name: 'PORT',
    kind: wholeNumber(0, HIGHEST_PORT),
    meaning: 'where it listens; 0 = any port that is free',
    default: 3000,
  },
  host: {
    name: 'HOST',
    kind: address,
    meaning:
      'the address it listens on; 0.0.0.0 = all of them. Any but a loopback address needs a sign-in (`AUTH_…`) or `SESSIONS_ACCESS`',
    default: '127.0.0.1',
  },
  access: {
    name: 'SESSIONS_ACCESS',
    kind: matching(/^open$/, 'open, or left out'),
    meaning:
      'allows everyone who can reach the app to access every session; without a sign-in (`AUTH_…`) it is required in production, and if `HOST` is not a loopback address',
  },
  allowedHosts: {
    name: 'ALLOWED_HOSTS',
    kind: listOf(/^([^\s,:/*]+|\*)$/, 'host names without port, separated by commas, or * for any'),
    meaning: 'host names of the app, in addition to localhost and IP addresses',
    default: [],
  },
  allowedOrigins: {
    name: 'ALLOWED_ORIGINS',
    kind: listOf(/^https?:\/\/[^\s,/?#@*]+$/, 'origins such as https://app.example, separated by commas'),
    meaning: 'pages that may call the app from a browser, besides its own',
    default: [],
  },
  isRequestLogged: {
    name: 'REQUEST_LOG',
    kind: flag,
    meaning: 'whether each request gets a line in the log',
    default: true,
  },
  throttle: {
    limit: {
      name: 'THROTTLE_LIMIT',
      kind: wholeNumber(),
      meaning: 'requests that one address may make in the time below; 0 = any number',
      default: 6000,
    },
    ttlSeconds: {
      name: 'THROTTLE_TTL_SECONDS',
      kind: wholeNumber(1, LONGEST_SECONDS),
      meaning: 'the time in which they are counted',
      default: 60,
    },
  },
  trustedProxies: {
    name: 'TRUSTED_PROXIES',
    kind: wholeNumber(0, 100),
    meaning: 'number of proxies in front of the app that add to `X-Forwarded-For`; determines the address of a client',
    default: 0,
  },
  bodies: {
    maxBytesInFlight: {
      name: 'BODY_MAX_BYTES_IN_FLIGHT',
      kind: wholeNumber(),
      meaning: 'bytes of bodies that are read or worked on at once; more are answered with 429; 0 = no limit',
      default: 67_108_864,
    },
    maxBytesInFlightPerAddress: {
      name: 'BODY_MAX_BYTES_IN_FLIGHT_PER_ADDRESS',
      kind: wholeNumber(),
      meaning: 'the same for one address, see `TRUSTED_PROXIES`; 0 = no limit',
      default: 8_388_608,
    },
    requestTimeoutSeconds: {
      name: 'REQUEST_TIMEOUT_SECONDS',
      kind: secondsUpTo(LONGEST_SECONDS, { canBeZero: false }),
      meaning: 'how long a request may take to arrive',
      default: 30,
    },
  },
  maxConnections: {
    name: 'MAX_CONNECTIONS',
    kind: wholeNumber(),
    meaning: 'connections at the same time; more are closed at once; 0 = any number',
    default: 2000,
  },
  streams: {
    maxAgeSeconds: {
      name: 'STREAM_MAX_AGE_SECONDS',
      kind: shortTime,
      meaning: 'how old a stream may get before its reader has to connect again; 0 = any age',
      default: 3600,
    },
    recheckSeconds: {
      name: 'STREAM_RECHECK_SECONDS',
      kind: shortTime,
      meaning: 'how often the access to a stream is checked again; 0 = only when it begins',
      default: 60,
    },
    stallSeconds: {
      name: 'STREAM_STALL_SECONDS',
      kind: shortTime,
      meaning: 'how long a reader may take for an event of a stream, or read nothing of another answer; 0 = no limit',
      default: 60,
    },
    maxBufferedBytes: {
      name: 'STREAM_MAX_BUFFERED_BYTES',
      kind: wholeNumber(),
      meaning:
        'bytes that all answers, streams included, hold for their readers; one address may have a quarter, or one answer; 0 = no limit',
      default: 67_108_864,
    },
    maxStreamsPerClient: {
      name: 'STREAM_MAX_PER_ADDRESS',
      kind: wholeNumber(),
      meaning:
        'streams of server-sent events of one address, see `TRUSTED_PROXIES`; more are answered with 429; 0 = any number',
      default: 100,
    },
  },
  graphql: {
    maxTextBytes: {
      name: 'GRAPHQL_MAX_TEXT_BYTES',
      kind: wholeNumber(1),
      meaning: 'length of a GraphQL document; values go as variables',
      default: 65_536,
    },
    maxItems: {
      name: 'GRAPHQL_MAX_ITEMS',
      kind: wholeNumber(1),
      meaning: 'events and sessions that one GraphQL document may ask for',
      default: 10_000,
    },
    maxAnswerBytes: {
      name: 'GRAPHQL_MAX_ANSWER_BYTES',
      kind: wholeNumber(1),
      meaning: 'events and state that one GraphQL document may be answered with',
      default: 8_388_608,
    },
    maxMessageBytes: {
      name: 'WEBSOCKET_MAX_MESSAGE_BYTES',
      kind: wholeNumber(1),
      meaning: 'length of a message over a WebSocket',
      default: 4_194_304,
    },
    handshakeSeconds: {
      name: 'WEBSOCKET_HANDSHAKE_SECONDS',
      kind: secondsUpTo(LONGEST_SECONDS, { canBeZero: false }),
      meaning: 'how long a WebSocket may be open before it sends `connection_init`',
      default: 5,
    },
    maxConnections: {
      name: 'WEBSOCKET_MAX_CONNECTIONS',
      kind: wholeNumber(),
      meaning: 'WebSockets at the same time; 0 = any number',
      default: 1000,
    },
    maxConnectionsPerAddress: {
      name: 'WEBSOCKET_MAX_CONNECTIONS_PER_ADDRESS',
      kind: wholeNumber(),
      meaning: 'the same for one address, see `TRUSTED_PROXIES`; 0 = any number',
      default: 100,
    },
  },
  hasMetrics: {
    name: 'METRICS',
    kind: flag,
    meaning: 'whether `GET /metrics` has metrics for Prometheus',
    default: false,
  },
  traceUrl: {
    name: 'INSPECTOR_TRACE_URL',
    kind: text,
    meaning:
      'where your collector shows the traces of a session: an address with `{sessionId}` or `{invocationId}`; then the inspector links to it',
  },
  hasSearch: {
    name: 'SEARCH',
    kind: flag,
    meaning: 'whether users can search in their sessions; a SQL store then keeps an index',
    default: false,
  },
  hasDemoAgent: {
    name: 'DEMO_AGENT',
    kind: flag,
    meaning: 'whether the app `demo` has a small agent to try',
    otherwise: 'true, but false in production',
  },
  healthTimeLimitMs: {
    name: 'HEALTH_TIME_LIMIT_MS',
    kind: wholeNumber(1, 60_000),
    meaning: 'how long the store may take to answer `GET /health/ready`',
    default: 2000,
  },
  shutdown: {
    delaySeconds: {
      name: 'SHUTDOWN_DELAY_SECONDS',
      kind: shortTime,
      meaning: 'how long it is not ready, and still accepts requests, before it ends',
      default: 0,
    },
    limitSeconds: {
      name: 'SHUTDOWN_LIMIT_SECONDS',
      kind: shortTime,
      meaning: 'how long requests that are under way may take when it ends; what is left then is cut off',
      default: 20,
    },
  },
} as const satisfies Rows;
