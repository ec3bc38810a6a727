/** Something that has to be looked at, and when. */
export interface AgendaEntry {
  /** 1 to 800 UTF-8 bytes without U+0000, compared byte for byte. */
  readonly name: string;
  /** By the store's clock, like all times here. */
  readonly dueAt: number;
}

/**
 * What has to be looked at later, whoever does it: it outlives the process that wrote it. Each method is atomic.
 *
 * Nobody owns an entry. Whoever looks at what it names takes it off afterwards, unless it was put off meanwhile; so
 * nothing gets lost, and two may look at the same thing.
 *
 * What breaks a rule is refused with an `InvalidInputError`: `assertAgendaPut`, `assertDueLimit` and `assertAgendaEntry` do
 * that, and `dueTime` says when an entry is due.
 *
 * @example
 * for (const entry of await storage.agenda.due(100)) {
 *   await lookAt(entry.name);
 *   await storage.agenda.remove(entry);
 * }
 */
export interface Agenda {
  /** Puts a name on the agenda, up to 400 days from now; one that is there already stays until the later of both times. */
  put(name: string, inMs: number): Promise<void>;
  /** Entries whose time has come, the oldest first, then by name (`compareBytes`), at most `limit`, which is 1 to 1,000. They stay. */
  due(limit: number): Promise<AgendaEntry[]>;
  /** Takes an entry off, unless its time was changed since it was read. */
  remove(entry: AgendaEntry): Promise<void>;
}
