import type { EventKind } from '../../../config/retention-settings.js';
import type { KindRule } from './event-retention.js';

/** An event that had to go. */
export interface RetainedEvent {
  readonly appendedAt: number;
  readonly rules: readonly KindRule[];
  readonly isRemoved: boolean;
}

/** What was found of one kind by a rule. */
export interface KindCount {
  readonly due: number;
  readonly removed: number;
}

/** What a rule found. */
export interface KindCounts {
  readonly due: number;
  readonly removed: number;
  readonly oldest?: number;
  readonly kinds: Readonly<Partial<Record<EventKind, KindCount>>>;
}

/** Adds up what the rule of this number found. */
export class EventTally {
  readonly #kinds = new Map<EventKind, KindCount>();
  #due = 0;
  #removed = 0;
  #oldest: number | undefined;

  constructor(private readonly rule: number) {}

  add({ appendedAt, rules, isRemoved }: RetainedEvent): void {
    const own = rules.filter(({ rule }) => rule === this.rule);
    if (own.length === 0) return;
    this.#due += 1;
    this.#removed += Number(isRemoved);
    this.#oldest = Math.min(this.#oldest ?? appendedAt, appendedAt);
    for (const { kind } of own) {
      const { due, removed } = this.#kinds.get(kind) ?? { due: 0, removed: 0 };
      this.#kinds.set(kind, { due: due + 1, removed: removed + Number(isRemoved) });
    }
  }

  get counts(): KindCounts {
    const oldest = this.#oldest;
    const kinds = Object.fromEntries(this.#kinds);
    return { due: this.#due, removed: this.#removed, ...(oldest !== undefined && { oldest }), kinds };
  }
}
