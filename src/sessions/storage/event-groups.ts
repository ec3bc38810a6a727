import type { GroupSearch } from '../domain/event-group.js';
import { firstIndex } from './binary-search.js';

/** The events of a log by group. */
export class EventGroups {
  /** In ascending order. */
  readonly #seqs = new Map<string, number[]>();

  /** Adds an event that is later than all others. */
  add(group: string, seq: number): void {
    if (group === '') return;
    const seqs = this.#seqs.get(group);
    if (seqs) seqs.push(seq);
    else this.#seqs.set(group, [seq]);
  }

  /** The event, or 0 if there is none. */
  find({ group, direction, from }: GroupSearch): number {
    const seqs = this.#seqs.get(group) ?? [];
    const next = firstIndex(seqs.length, (index) => (seqs[index] as number) >= from);
    const isNext = direction === 'next' || seqs[next] === from;
    return seqs[isNext ? next : next - 1] ?? 0;
  }
}
