import type { Clock } from '../sessions/domain/process/clock.js';

/**
 * A clock that only changes when a test moves it, in either direction.
 *
 * @example
 * const clock = new ManualClock();
 * const sessions = new InMemorySessionService({ clock, ttl: { enabled: true, sessionSeconds: 60 } });
 * clock.advanceSeconds(61); // everything expired
 */
export class ManualClock implements Clock {
  /** @param time where it starts, in epoch milliseconds */
  constructor(private time: number = Date.UTC(2026, 0, 1)) {}

  now(): number {
    return this.time;
  }

  /** Moves the clock by this many milliseconds; negative values move it back. */
  advance(milliseconds: number): void {
    this.time += milliseconds;
  }

  advanceSeconds(seconds: number): void {
    this.advance(seconds * 1000);
  }
}
