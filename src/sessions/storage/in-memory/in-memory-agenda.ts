import { assertAgendaEntry, assertAgendaPut, assertDueLimit, dueTime } from '../../domain/coordination-rules.js';
import { compareBytes } from '../../domain/ids.js';
import type { Agenda, AgendaEntry } from '../coordination.js';
import { firstIndex } from '../binary-search.js';

/** An agenda sorted by due time, with binary search. */
export class InMemoryAgenda implements Agenda {
  readonly #entries: AgendaEntry[] = [];
  readonly #dueTimes = new Map<string, number>();
  readonly #now: () => number;

  /** @param now the time of an operation */
  constructor(now: () => number) {
    this.#now = now;
  }

  async put(name: string, inMs: number): Promise<void> {
    assertAgendaPut(name, inMs);
    const dueAt = dueTime(this.#now(), inMs);
    const before = this.#dueTimes.get(name);
    if (before !== undefined && before >= dueAt) return;
    if (before !== undefined) this.#takeOff({ name, dueAt: before });
    this.#entries.splice(this.#placeOf({ name, dueAt }), 0, { name, dueAt });
    this.#dueTimes.set(name, dueAt);
  }

  async due(limit: number): Promise<AgendaEntry[]> {
    assertDueLimit(limit);
    const now = this.#now();
    const count = firstIndex(this.#entries.length, (index) => this.#at(index).dueAt > now);
    return this.#entries.slice(0, Math.min(count, limit)).map((entry) => ({ ...entry }));
  }

  async remove(entry: AgendaEntry): Promise<void> {
    assertAgendaEntry(entry);
    this.#now();
    if (this.#dueTimes.get(entry.name) === entry.dueAt) this.#takeOff(entry);
  }

  removeAll(prefix: string): void {
    for (const entry of this.#entries.filter(({ name }) => name.startsWith(prefix))) this.#takeOff(entry);
  }

  all(): readonly AgendaEntry[] {
    return this.#entries;
  }

  clear(): void {
    this.#entries.length = 0;
    this.#dueTimes.clear();
  }

  #takeOff(entry: AgendaEntry): void {
    this.#entries.splice(this.#placeOf(entry), 1);
    this.#dueTimes.delete(entry.name);
  }

  /** The index of the entry, or where to insert it. */
  #placeOf(entry: AgendaEntry): number {
    return firstIndex(this.#entries.length, (index) => compareEntries(this.#at(index), entry) >= 0);
  }

  #at(index: number): AgendaEntry {
    return this.#entries[index] as AgendaEntry;
  }
}

function compareEntries(a: AgendaEntry, b: AgendaEntry): number {
  return a.dueAt - b.dueAt || compareBytes(a.name, b.name);
}
