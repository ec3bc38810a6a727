import { assertAgendaEntry, assertAgendaPut, assertDueLimit, dueTime } from '../domain/background/agenda-limits.js';
import { NEVER } from '../domain/values/expiry.js';
import { newStamp } from '../domain/values/stamp.js';
import type { Agenda, AgendaEntry } from '../storage/coordination.js';
import type { EntryPlace } from '../storage/entry-store.js';
import { type Decision, decide, noAnswer } from './decide.js';
import type { EntryView } from './entry-view.js';
import type { KnownEntries } from './known-entries.js';
import { removeWhere } from './remove-entries.js';

/** Of all entries of the agenda. */
export const AGENDA_SPACE = 'agenda';

/** The agenda as entries, whose rank is when they are due. */
export class EntryAgenda implements Agenda {
  constructor(private readonly entries: KnownEntries) {}

  async put(name: string, inMs: number): Promise<void> {
    assertAgendaPut(name, inMs);
    const place = { space: AGENDA_SPACE, name };
    const begin = this.entries.guess([place]);
    await decide(this.entries, { places: [place], begin }, (seen) => keepTheLater(place, inMs, seen));
  }

  async due(limit: number): Promise<AgendaEntry[]> {
    assertDueLimit(limit);
    const { entries } = await this.entries.range({ space: AGENDA_SPACE, upTo: 'now', limit });
    return entries.map(({ name, rank }) => ({ name, dueAt: rank }));
  }

  async remove(entry: AgendaEntry): Promise<void> {
    assertAgendaEntry(entry);
    const place = { space: AGENDA_SPACE, name: entry.name };
    const begin = this.entries.known([place]);
    await decide(this.entries, { places: [place], begin }, (seen) => removeUnchanged(place, entry.dueAt, seen));
  }

  async removeAll(prefix: string): Promise<void> {
    await removeWhere(this.entries, AGENDA_SPACE, (name) => name.startsWith(prefix));
  }
}

function keepTheLater(place: EntryPlace, inMs: number, seen: EntryView): Decision<void> {
  const stored = seen.at(place);
  if (stored && stored.rank >= dueTime(seen.now, inMs)) return { answer: noAnswer };
  const since = stored?.since ?? { inMs: 0 };
  const next = { stamp: newStamp(), rank: { inMs }, since, text: '', ttlMs: NEVER };
  return { writes: [{ ...place, expected: stored?.stamp, next }], answer: noAnswer };
}

function removeUnchanged(place: EntryPlace, dueAt: number, seen: EntryView): Decision<void> {
  const stored = seen.at(place);
  if (stored?.rank !== dueAt) return { answer: noAnswer };
  return { writes: [{ ...place, expected: stored.stamp, next: undefined }], answer: noAnswer };
}
