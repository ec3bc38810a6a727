import { HIGHEST_PORT, type Kind, flag, host, listOf, matching, secondsUpTo, text, wholeNumber } from './setting.js';
import type { Rows } from './variable-rows.js';

/** Up to a day. */
const shortTime = secondsUpTo(86_400, { canBeZero: true });

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
  requestsPerMinute: {
    name: 'THROTTLE_LIMIT',
    kind: wholeNumber(),
    meaning: 'requests that one address may make in a minute; 0 = any number',
    default: 6000,
  },
  trustedProxies: {
    name: 'TRUSTED_PROXIES',
    kind: wholeNumber(0, 100),
    meaning: 'number of proxies in front of the app that add to `X-Forwarded-For`; determines the address of a client',
    default: 0,
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
