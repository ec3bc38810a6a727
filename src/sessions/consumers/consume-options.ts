import { checkOptionNames } from '../../config/option-checks.js';
import { InvalidInputError } from '../domain/errors/errors.js';
import type { LoggedEvent } from '../domain/event/event.js';
import { type SessionKey, assertId } from '../domain/values/ids.js';
import { LONGEST_LEASE_MS } from '../domain/background/lease-limits.js';
import { assertWholeNumber } from '../domain/values/input-checks.js';
import { requireRequest } from '../domain/values/request-fields.js';
import type { ConsumerStart } from './consumer-settings.js';

/** An event that is handed to a consumer. */
export interface ConsumedEvent {
  readonly key: SessionKey;
  readonly event: LoggedEvent;
  /** Distinguishes the session from earlier ones with the same id. */
  readonly incarnation: string;
  /**
   * The same for each delivery of this event, and different for every other event of the store, also after a session
   * was deleted and created again.
   */
  readonly idempotencyKey: string;
  /** 1 for the first try. */
  readonly attempt: number;
  /** Aborts when another worker may have taken over the session. */
  readonly signal: AbortSignal;
}

/** Handles an event. The event is handled when the promise resolves. */
export type ConsumeHandler = (consumed: ConsumedEvent) => void | Promise<void>;

/** Options of a consumer. */
export interface ConsumeOptions {
  /** Identifies the consumer in the store. All instances with this name share its work. */
  readonly name: string;
  /** Only sessions of these apps. Default: all apps. The last call decides for all instances. */
  readonly apps?: readonly string[] | undefined;
  /** Where a new consumer begins: with events from now on (default), or at the start of every log. */
  readonly from?: ConsumerStart | undefined;
  readonly handler: ConsumeHandler;
  /** Sessions that this instance handles at the same time. Default 8. */
  readonly concurrency?: number | undefined;
  /** After this many failed tries, an event becomes a dead letter. Default 10. */
  readonly maxTries?: number | undefined;
  /** The pause after the first failure; it doubles with each failure. Default: 1 s. */
  readonly firstRetryMs?: number | undefined;
  /** The longest pause. Default: 5 minutes. */
  readonly maxRetryMs?: number | undefined;
  /** After a crash of an instance, its sessions wait this long for another one. A handler may take longer. Default: 30 s. */
  readonly leaseMs?: number | undefined;
  /** Interval at which this instance polls for work from other processes. Default: 1 s. */
  readonly pollMs?: number | undefined;
}

export type CheckedConsumeOptions = Required<Omit<ConsumeOptions, 'apps'>> & Pick<ConsumeOptions, 'apps'>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Numeric options: default, minimum and maximum. */
const NUMBERS = {
  concurrency: [8, 1, 1_000],
  maxTries: [10, 1, 1_000],
  firstRetryMs: [1_000, 0, DAY_MS],
  maxRetryMs: [5 * 60_000, 0, DAY_MS],
  leaseMs: [30_000, 100, LONGEST_LEASE_MS],
  pollMs: [1_000, 10, HOUR_MS],
} as const;

const OPTIONS: Readonly<Record<keyof ConsumeOptions, unknown>> = {
  name: true,
  apps: true,
  from: true,
  handler: true,
  ...NUMBERS,
};

export function checkedConsumeOptions(options: ConsumeOptions): CheckedConsumeOptions {
  const { name, apps, from = 'now', handler } = requireRequest(options, 'consumer', 'name, handler');
  checkOptionNames(options, OPTIONS);
  assertId(name, 'name');
  if (apps !== undefined) {
    if (!Array.isArray(apps) || apps.length === 0) {
      throw new InvalidInputError('must be a list of app names, or missing for all apps', 'apps');
    }
    for (const [index, app] of apps.entries()) assertId(app, `apps[${index}]`);
  }
  if (from !== 'now' && from !== 'start') throw new InvalidInputError('must be now or start', 'from');
  if (typeof handler !== 'function') throw new InvalidInputError('must be a function', 'handler');
  const numbers = Object.entries(NUMBERS).map(([option, [standard, least, most]]) => {
    const value = options[option as keyof typeof NUMBERS] ?? standard;
    assertWholeNumber(value, { path: option, from: least, to: most });
    return [option, value] as const;
  });
  const checked = Object.fromEntries(numbers) as Record<keyof typeof NUMBERS, number>;
  return { ...checked, name, from, handler, apps: apps && [...new Set<string>(apps)] };
}
