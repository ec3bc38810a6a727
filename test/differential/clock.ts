import type { Clock } from '../../src/sessions/domain/process/clock.js';

/** A clock that changes only when it is set. */
export interface ManualClock extends Clock {
  time: number;
}

export function manualClock(): ManualClock {
  return {
    time: 1_700_000_000_000,
    now() {
      return this.time;
    },
  };
}
