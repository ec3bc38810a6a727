import { toEventGroup } from '../sessions/domain/event/event-group.js';
import type { LoggedEvent } from '../sessions/domain/event/event.js';
import { sessionKeyOf } from '../sessions/domain/values/ids.js';
import { type SeqRange, isInRanges } from '../sessions/domain/values/seq-ranges.js';
import type { SessionRecord } from '../sessions/domain/stored/session-record.js';
import { loggedEvent } from '../sessions/domain/stored/stored-json.js';
import type { EventGroup, GroupedEvents } from '../sessions/storage/rebuild.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { type Pace, logPages } from './log-pages.js';

/** Compares the groups of a page of events with those that the index has. Returns the groups that are not right. */
export async function wrongGroups(
  storage: SessionStorage,
  record: SessionRecord,
  events: readonly LoggedEvent[],
): Promise<ReadonlySet<string>> {
  const [first, last] = [events[0], events.at(-1)];
  const wrong = new Set<string>();
  if (!storage.groupedEvents || !first || !last) return wrong;
  const range = { from: first.seq, to: last.seq };
  const groups = new Set(events.map(toEventGroup));
  groups.delete('');
  const key = sessionKeyOf(record);
  const found = await storage.groupedEvents({ key, range, groups: [...groups] });
  if (!found) return wrong;
  const index = indexOf(found);
  for (const event of events) {
    const group = toEventGroup(event);
    if (group !== '' && !index.has(group, event.seq)) wrong.add(group);
    for (const other of index.groupsAt(event.seq)) if (other !== group) wrong.add(group).add(other);
  }
  return wrong;
}

interface GroupIndex {
  has(group: string, seq: number): boolean;
  groupsAt(seq: number): readonly string[];
}

/** Stores return a group in one part, or in a part for each event. */
function indexOf(found: readonly GroupedEvents[]): GroupIndex {
  const byGroup = new Map<string, { ranges: SeqRange[]; isCut: boolean }>();
  for (const { group, ranges, isCut = false } of found) {
    const known = byGroup.get(group);
    if (known) known.ranges.push(...ranges);
    else byGroup.set(group, { ranges: [...ranges], isCut });
  }
  return {
    has(group, seq) {
      const { ranges = [], isCut = false } = byGroup.get(group) ?? {};
      return isInRanges(seq, ranges) || (isCut && seq > (ranges.at(-1)?.to ?? 0));
    },
    groupsAt: (seq) => [...byGroup].flatMap(([group, { ranges }]) => (isInRanges(seq, ranges) ? [group] : [])),
  };
}

/** Reads the log for all events of some groups. */
export async function eventsOfGroups(
  storage: SessionStorage,
  record: SessionRecord,
  groups: ReadonlySet<string>,
  pace: Pace,
): Promise<EventGroup[]> {
  const ranges = new Map<string, { from: number; to: number }[]>([...groups].map((group) => [group, []]));
  for await (const page of logPages(storage, record, { from: record.firstSeq, to: record.lastSeq }, pace)) {
    for (const stored of page) {
      const own = ranges.get(toEventGroup(loggedEvent(stored)));
      const last = own?.at(-1);
      if (last && last.to === stored.seq - 1) last.to = stored.seq;
      else own?.push({ from: stored.seq, to: stored.seq });
    }
  }
  return [...ranges].map(([group, all]) => ({ group, ranges: all }));
}
