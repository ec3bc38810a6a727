import { sessionOfComponents } from '../../domain/stored/component.js';
import { NEVER } from '../../domain/values/expiry.js';
import { DamagedDataError } from '../../domain/stored/stored-json.js';
import type { ComponentStore } from '../../storage/component-store.js';
import type { EntryPlace, StoredEntry } from '../../storage/entry-store.js';
import type { AuditPage, AuditRequest, StoreProblem } from '../../storage/store-audit.js';
import { decide, noAnswer } from '../decide.js';
import { type EntryView, placeText } from '../entry-view.js';
import type { KnownEntries } from '../known-entries.js';
import { type ComponentPart, entryOfDue, entryOfHead, liveHead, partIn } from './component-entries.js';
import { type SessionPlaces, componentAt, placesOf, spacesOf } from './component-places.js';
import { textPlacesOf } from './discarded-texts.js';
import { pagesOfParts } from './tidy-session.js';

/** What an audit of components looks at. */
export interface AuditedComponents {
  readonly entries: KnownEntries;
  readonly components: Pick<ComponentStore, 'read'>;
  readonly groups: number;
}

type Step = 'heads' | 'parts' | 'texts';
type Examine = (audited: AuditedComponents, found: readonly StoredEntry[], repair: boolean) => Promise<StoreProblem[]>;

interface StepDescription {
  readonly examine: Examine;
  readonly most: number;
  readonly next?: Step;
}

/** How to examine the entries of a space, and how many at most: three are looked up for each part, and texts may be long. */
const STEPS: Readonly<Record<Step, StepDescription>> = {
  heads: { examine: auditHeads, most: 300, next: 'parts' },
  parts: { examine: auditParts, most: 300, next: 'texts' },
  texts: { examine: auditTexts, most: 20 },
};

interface Position {
  readonly group: number;
  readonly step: Step;
  readonly after?: Pick<StoredEntry, 'rank' | 'name'> | undefined;
}

/** Examines the next entries of components. Whatever seems to be wrong is read again in one step, since others may write. */
export async function auditComponents(
  audited: AuditedComponents,
  { cursor, limit, repair }: AuditRequest,
): Promise<AuditPage> {
  let position: Position | undefined =
    cursor === undefined ? { group: 0, step: 'heads' } : (JSON.parse(cursor) as Position);
  while (position) {
    const { group, step, after }: Position = position;
    const { examine, most, next }: StepDescription = STEPS[step];
    const atOnce = Math.min(limit, most);
    const { entries: found } = await audited.entries.range({ space: spacesOf(group)[step], after, limit: atOnce });
    const last = found.length < atOnce ? undefined : found.at(-1);
    if (last) position = { group, step, after: { rank: last.rank, name: last.name } };
    else if (next) position = { group, step: next };
    else position = group + 1 < audited.groups ? { group: group + 1, step: 'heads' } : undefined;
    if (found.length === 0) continue;
    const problems = await examine(audited, found, repair);
    return { problems, examined: found.length, ...(position && { nextCursor: JSON.stringify(position) }) };
  }
  return { problems: [], examined: 0 };
}

/** Sessions that expire, and nobody would notice. */
async function auditHeads(
  { entries, groups }: AuditedComponents,
  found: readonly StoredEntry[],
  repair: boolean,
): Promise<StoreProblem[]> {
  const sessions = found.map(({ name }) => placesOf(name, groups));
  const seen = await entries.find(sessions.flatMap(({ head, due }) => [head, due]));
  const problems: StoreProblem[] = [];
  for (const places of sessions) {
    const isKnownWhenDue = await unlessDamaged(async () => !isOverlooked(places, seen));
    if (isKnownWhenDue === 'damaged')
      problems.push(createComponentProblem(places.session, 'RECORD_UNREADABLE', 'its head'));
    if (isKnownWhenDue !== false) continue;
    if (repair) await putDue(entries, places);
    const detail = 'would not be removed when it expires';
    problems.push({ ...createComponentProblem(places.session, 'INDEX_DIFFERS', detail), isRepaired: repair });
  }
  return problems;
}

function isOverlooked({ head: place, due }: SessionPlaces, seen: EntryView): boolean {
  const stored = seen.at(place);
  const head = liveHead(stored, seen.now);
  if (!head || !stored || (head.due === undefined && stored.since >= NEVER)) return false;
  return (seen.at(due)?.rank ?? NEVER) > Math.min(head.due ?? NEVER, stored.since);
}

async function putDue(entries: KnownEntries, places: SessionPlaces): Promise<void> {
  await decide(entries, { places: [places.head, places.due] }, (seen) => {
    const stored = seen.at(places.head);
    const head = liveHead(stored, seen.now);
    if (!head || !stored || !isOverlooked(places, seen)) return { answer: noAnswer };
    const due = Math.min(head.due ?? NEVER, stored.since);
    const next = entryOfHead({ ...head, due }, { at: stored.since, now: seen.now });
    return {
      writes: [
        { ...places.head, expected: stored.stamp, next },
        { ...places.due, expected: seen.at(places.due)?.stamp, next: entryOfDue(due) },
      ],
      answer: noAnswer,
    };
  });
}

/** Parts of no session, which are data, so they stay; and parts that cannot be read. */
async function auditParts(
  { entries, components, groups }: AuditedComponents,
  found: readonly StoredEntry[],
): Promise<StoreProblem[]> {
  const problems: StoreProblem[] = [];
  const readable: { readonly stored: StoredEntry; readonly part: ComponentPart; readonly places: SessionPlaces }[] = [];
  for (const stored of found) {
    const part = await unlessDamaged(async () => partIn(stored));
    if (part !== 'damaged') readable.push({ stored, part, places: placesOf(part.session, groups) });
    else problems.push({ code: 'RECORD_UNREADABLE', detail: `a component (${stored.name})` });
  }
  const seen = await entries.find(
    uniquePlaces(readable.flatMap(({ stored, places }) => [stored, places.head, places.due])),
  );
  for (const { stored, part, places } of readable) {
    if (seen.at(stored)?.stamp !== stored.stamp) continue;
    const place = componentAt(part.session, stored);
    const name = place ? `its ${place.kind} ${JSON.stringify(place.name)}` : 'its removed texts';
    const head = await unlessDamaged(async () => liveHead(seen.at(places.head), seen.now));
    if (head === 'damaged') continue;
    if (head?.incarnation !== part.incarnation) {
      if (!seen.at(places.due)) problems.push(createComponentProblem(part.session, 'ORPHAN', `${name} without a head`));
    } else if (place && part.entries > 0) {
      const isRead = await unlessDamaged(() => components.read(place));
      if (isRead === 'damaged') problems.push(createComponentProblem(part.session, 'RECORD_UNREADABLE', name));
    }
  }
  return problems;
}

/** Texts of no part. They are data, so they stay. */
async function auditTexts({ entries }: AuditedComponents, found: readonly StoredEntry[]): Promise<StoreProblem[]> {
  let orphans = found;
  // A part may have moved while the parts were read.
  for (let look = 0; look < 2 && orphans.length > 0; look++) {
    const owned = await ownedTexts(entries, orphans);
    const left = orphans.filter((text) => !owned.has(placeText(text)));
    const seen = await entries.find(left);
    orphans = left.filter((text) => seen.at(text));
  }
  return orphans.map(({ name }) => ({ code: 'ORPHAN', detail: `texts of no component (${name})` }));
}

async function ownedTexts(entries: KnownEntries, texts: readonly StoredEntry[]): Promise<ReadonlySet<string>> {
  const owned = new Set<string>();
  const prefixes = new Map(texts.map(({ space, name }) => [`${name.split(' ')[0]} `, space]));
  for (const [prefix, space] of prefixes) {
    const spaces = spacesOf(Number(/^@(\d+):/.exec(space)?.[1]));
    for await (const page of pagesOfParts(entries, { spaces, prefix })) {
      for (const stored of page) {
        const part = await unlessDamaged(async () => partIn(stored));
        if (part === 'damaged') continue;
        for (const place of textPlacesOf({ spaces, prefix }, part)) owned.add(placeText(place));
      }
    }
  }
  return owned;
}

function uniquePlaces(places: readonly EntryPlace[]): EntryPlace[] {
  return [...new Map(places.map(({ space, name }) => [placeText({ space, name }), { space, name }])).values()];
}

async function unlessDamaged<Result>(work: () => Promise<Result>): Promise<Result | 'damaged'> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DamagedDataError) return 'damaged';
    throw error;
  }
}

function createComponentProblem(session: string, code: StoreProblem['code'], what: string): StoreProblem {
  return { code, ...sessionOfComponents(session), detail: `components of ${JSON.stringify(session)}: ${what}` };
}
