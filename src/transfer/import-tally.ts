import { type SessionKey, sessionKeyOf } from '../sessions/domain/values/ids.js';
import { sessionOfComponents } from '../sessions/domain/stored/component.js';
import type { ComponentOutcome } from './import-component.js';
import type { ImportCounts, ImportResult, TransferProblem } from './import-result.js';
import type { SessionOutcome } from './import-session.js';
import type { ComponentLine } from './transfer-records.js';

/** How many conflicts and problems a result lists. */
const MOST_LISTED = 100;

/** Counts what an import does. */
export class ImportTally {
  readonly #sessions = { created: 0, continued: 0, unchanged: 0, expired: 0, conflicting: 0, filtered: 0, missing: 0 };
  readonly #components = { written: 0, unchanged: 0, expired: 0, conflicting: 0, filtered: 0 };
  readonly #conflicts: TransferProblem[] = [];
  readonly #omissions: TransferProblem[] = [];
  readonly #excesses: TransferProblem[] = [];
  readonly #problems: TransferProblem[] = [];
  #oversized = 0;
  #omitted = 0;
  #bad = 0;
  events = 0;
  states = 0;
  usages = 0;

  session(outcome: SessionOutcome | 'filtered' | 'missing'): void {
    this.#sessions[outcome === 'conflict' ? 'conflicting' : outcome]++;
  }

  component(outcome: ComponentOutcome | 'filtered'): void {
    this.#components[outcome === 'conflict' ? 'conflicting' : outcome]++;
  }

  conflict(conflict: TransferProblem): void {
    if (this.#conflicts.length < MOST_LISTED) this.#conflicts.push(conflict);
  }

  omission(omission: TransferProblem): void {
    this.#omitted++;
    if (this.#omissions.length < MOST_LISTED) this.#omissions.push(omission);
  }

  excess(excess: TransferProblem): void {
    this.#oversized++;
    if (this.#excesses.length < MOST_LISTED) this.#excesses.push(excess);
  }

  bad(problem: TransferProblem): void {
    this.#bad++;
    if (this.#problems.length < MOST_LISTED) this.#problems.push(problem);
  }

  counts(): ImportCounts {
    return {
      sessions: { ...this.#sessions },
      components: { ...this.#components },
      events: this.events,
      states: this.states,
      usages: this.usages,
      omitted: this.#omitted,
      oversized: this.#oversized,
      bad: this.#bad,
    };
  }

  result(cursor: number): ImportResult {
    return {
      ...this.counts(),
      cursor,
      conflicts: this.#conflicts,
      omissions: this.#omissions,
      excesses: this.#excesses,
      problems: this.#problems,
    };
  }
}

/** Names a component in results. */
export function toComponentNames({ session, name }: Pick<ComponentLine, 'session' | 'name'>): {
  readonly sessionId: string;
  readonly component: string;
} & Partial<SessionKey> {
  const key = sessionOfComponents(session);
  return { ...(key ? sessionKeyOf(key) : { sessionId: session }), component: name };
}
