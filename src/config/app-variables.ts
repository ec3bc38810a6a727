import { HIGHEST_PORT } from './redis-address.js';
import { flag, matching, secondsUpTo, wholeNumber } from './variable-kinds.js';
import type { Variable } from './variables.js';

const LONGEST_SECONDS = 86_400;

const shortTime = secondsUpTo(LONGEST_SECONDS, { canBeZero: true });

/** What begins so is meant for the app: a slip of the pen there must not go unnoticed. */
export const APP_PREFIXES = ['THROTTLE_', 'SHUTDOWN_'];

/** What the app of `npm start` takes from its environment, beside its sessions and their summaries. */
export const APP_VARIABLES = {
  port: {
    name: 'PORT',
    kind: wholeNumber(0, HIGHEST_PORT),
    meaning: 'where it listens; 0 = any port that is free',
    otherwise: '3000',
  },
  access: {
    name: 'SESSIONS_ACCESS',
    kind: matching(/^open$/, 'open, or left out'),
    meaning: 'says that everybody may touch every session; needed in production, where else nobody decided that',
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
    meaning: 'proxies in front of the app that add to `X-Forwarded-For`, for the address of whoever asks',
    otherwise: '0',
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
