import { assertAgendaEntry, assertAgendaPut, assertDueLimit, dueTime } from '../../domain/coordination-rules.js';
import { compareBytes } from '../../domain/ids.js';
import type { Agenda, AgendaEntry } from '../coordination.js';
import { SortedList } from './sorted-list.js';

/** Entries by due time. */
export class InMemoryAgenda implements Agenda {
  readonly #entries = new SortedList<AgendaEntry, AgendaEntry>(
    (a, b) => a.dueAt - b.dueAt || compareBytes(a.name, b.name),
  );
  readonly #dueTimes = new Map<string, number>();

  /** @param now the time of an operation */
  constructor(private readonly now: () => number) {}

  async put(name: string, inMs: number): Promise<void> {
    assertAgendaPut(name, inMs);
    const dueAt = dueTime(this.now(), inMs);
    const before = this.#dueTimes.get(name);
    if (before !== undefined && before >= dueAt) return;
    if (before !== undefined) this.#takeOff({ name, dueAt: before });
    this.#entries.add({ name, dueAt });
    this.#dueTimes.set(name, dueAt);
  }

  async due(limit: number): Promise<AgendaEntry[]> {
    assertDueLimit(limit);
    const now = this.now();
    const due: AgendaEntry[] = [];
    for (const entry of this.#entries.from(undefined, 'asc')) {
      if (entry.dueAt > now || due.push({ ...entry }) >= limit) break;
    }
    return due;
  }

  async remove(entry: AgendaEntry): Promise<void> {
    assertAgendaEntry(entry);
    this.now();
    if (this.#dueTimes.get(entry.name) === entry.dueAt) this.#takeOff(entry);
  }

  removeAll(prefix: string): void {
    for (const entry of this.all()) if (entry.name.startsWith(prefix)) this.#takeOff(entry);
  }

  all(): readonly AgendaEntry[] {
    return [...this.#entries.from(undefined, 'asc')];
  }

  clear(): void {
    this.removeAll('');
  }

  #takeOff(entry: AgendaEntry): void {
    this.#entries.delete(entry);
    this.#dueTimes.delete(entry.name);
  }
}
