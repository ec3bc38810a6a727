/** A name, and when it is due. */
export interface AgendaEntry {
  /** 1 to 800 UTF-8 bytes without U+0000, compared byte for byte. */
  readonly name: string;
  /** By the store's clock, like all times here. */
  readonly dueAt: number;
}

/**
 * A durable list of work that is due later. Entries survive the process that wrote them. Each method is atomic.
 *
 * Entries are not locked. A worker removes an entry after its work, unless the entry was postponed in the meantime. So no entry
 * is lost, and two workers may process the same one.
 *
 * Invalid input is refused with an `InvalidInputError`: use `assertAgendaPut`, `assertDueLimit` and `assertAgendaEntry`.
 * `dueTime` computes when an entry is due.
 *
 * @example
 * for (const entry of await storage.agenda.due(100)) {
 *   await lookAt(entry.name);
 *   await storage.agenda.remove(entry);
 * }
 */
export interface Agenda {
  /** Adds a name, due in at most 400 days. An existing entry gets the later of both times. */
  put(name: string, inMs: number): Promise<void>;
  /** Returns due entries, ordered by time, then by name (`compareBytes`). `limit` is 1 to 1,000. Does not remove them. */
  due(limit: number): Promise<AgendaEntry[]>;
  /** Removes an entry, unless its time changed since it was read. */
  remove(entry: AgendaEntry): Promise<void>;
}
