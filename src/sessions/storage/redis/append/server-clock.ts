import type { Clock } from '../../../domain/process/clock.js';
import { type PlanTime, SLACK_MS, timeRange } from '../../plan-time.js';

/** How long an answer that came faster than later ones counts. */
const KEPT_MS = 1_000;

/** What the clock of the server shows, or the clock that replaces it. */
export class ServerClock {
  /** The server's time less that of this process, at most, and when that was found out. */
  #latest: { readonly offset: number; readonly at: number } | undefined;
  #lastAnswer: { readonly offset: number; readonly at: number } | undefined;
  #last = '0';

  constructor(private readonly clock: Clock | undefined) {}

  /** Notes a time of the server, which has passed since. Of several answers, the one that came fastest is nearest. */
  note(serverTime: string): void {
    this.#last = serverTime;
    const at = performance.now();
    const offset = Number(serverTime) - at;
    this.#lastAnswer = { offset, at };
    const isNearer = !this.#latest || offset > this.#latest.offset || at - this.#latest.at > KEPT_MS;
    if (isNearer) this.#latest = this.#lastAnswer;
  }

  /** Takes the last answer, also if it was slow. */
  renew(): void {
    this.#latest = this.#lastAnswer;
  }

  /** The server's last time. */
  get last(): string {
    return this.#last;
  }

  /** By how much a moment may be behind the server's clock. */
  get slackMs(): number {
    return this.clock ? 0 : SLACK_MS;
  }

  /** Undefined before the first answer. */
  moment(): PlanTime | undefined {
    const { slackMs } = this;
    if (this.clock) return { now: this.clock.now(), slackMs };
    return this.#latest && { now: Math.floor(performance.now() + this.#latest.offset), slackMs };
  }

  /** When the server may write what was planned at this time, as arguments of the script. */
  rangeFrom(now: number, until = Infinity): [from: number | string, to: number | string] {
    const range = timeRange({ now, slackMs: this.slackMs }, until);
    return range ? [range.from, range.to] : ['', ''];
  }
}
