import { inspect } from 'node:util';
import { ConfigurationError } from '../../../config/configuration-error.js';
import { type Clock, LAST_TIMESTAMP, systemClock } from './clock.js';

/**
 * The clock of the app, or that of the system. Refuses what a clock of the app shows that is no time: it would be stored. That is the app's
 * mistake, as with `checkedIds`.
 *
 * @example const clock = checkedClock({ now: () => Date.now() });
 */
export function checkedClock(clock: Clock | undefined): Clock {
  if (!clock || clock === systemClock) return systemClock;
  return {
    now: () => {
      const now: unknown = clock.now();
      if (isTime(now)) return now;
      throw new ConfigurationError([
        `clock.now() returned ${inspect(now)}; it must be a whole number of epoch milliseconds.`,
      ]);
    },
  };
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= LAST_TIMESTAMP;
}
