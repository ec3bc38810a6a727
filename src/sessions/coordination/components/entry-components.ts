import { inBatches } from '../../domain/stored/batches.js';
import type {
  ComponentPlace,
  ComponentWrite,
  ComponentWriteOutcome,
  StoredComponent,
} from '../../domain/stored/component.js';
import { NEVER } from '../../domain/values/expiry.js';
import { KeyedQueue } from '../../domain/process/keyed-queue.js';
import { retryUndefined } from '../../domain/process/retry-overtaken.js';
import { DamagedDataError } from '../../domain/stored/stored-json.js';
import type { ComponentContents, ComponentSessionsRequest, ComponentStore } from '../../storage/component-store.js';
import type { EntryPlace, EntryStore, StoredEntry } from '../../storage/entry-store.js';
import type { AuditPage, AuditRequest } from '../../storage/store-audit.js';
import { decide } from '../decide.js';
import type { EntryView } from '../entry-view.js';
import { KnownEntries } from '../known-entries.js';
import { auditComponents } from './audit-components.js';
import { type ComponentPart, liveHead, livePart, textsIn } from './component-entries.js';
import { type SessionPlaces, componentAt, placeOfPart, placesOf, spacesOf } from './component-places.js';
import { textPlacesOf } from './discarded-texts.js';
import { listComponentSessions } from './list-sessions.js';
import { placesOfName, removeName, removeSession } from './remove-components.js';
import { pagesOfParts, tidySession } from './tidy-session.js';
import { writeComponent } from './write-component.js';

const TEXTS_AT_ONCE = { items: 250 };
const SESSIONS_AT_ONCE = 10;
const DUE_AT_ONCE = 100;

/** The state of components as entries: a head of each session, a part for each value and list, and text entries for long ones. */
export class EntryComponents implements ComponentStore {
  readonly #store: EntryStore;
  readonly #entries: KnownEntries;
  readonly #groups: number;
  /** Changes of a session in this process wait for each other, since each of them would refuse the others. */
  readonly #changes = new KeyedQueue();

  constructor(store: EntryStore) {
    this.#store = store;
    this.#entries = new KnownEntries(store);
    this.#groups = store.groups ?? 1;
  }

  async read(place: ComponentPlace, only?: 'head'): Promise<StoredComponent | undefined> {
    const places = placesOf(place.session, this.#groups);
    const partPlace = placeOfPart(places, place);
    let triedStamp: number | undefined;
    const read = await retryUndefined(async (): Promise<{ readonly found?: StoredComponent } | undefined> => {
      const seen = await this.#entries.find([places.head, partPlace]);
      const part = livePart(seen.at(partPlace), liveHead(seen.at(places.head), seen.now));
      if (!part) return {};
      const { version, length, digest } = part;
      const texts = only === 'head' ? [] : await this.#textsOf(places, part);
      if (texts) return { found: { version, length, digest, texts } };
      // It was replaced meanwhile, or it is damaged.
      const stamp = seen.at(partPlace)?.stamp;
      if (stamp === triedStamp) throw new DamagedDataError('a component');
      triedStamp = stamp;
      return undefined;
    });
    if (!read) throw new DamagedDataError('a component');
    return read.found;
  }

  write(write: ComponentWrite): Promise<ComponentWriteOutcome> {
    return this.#changes.run(write.place.session, () => this.#write(write));
  }

  async #write(write: ComponentWrite): Promise<ComponentWriteOutcome> {
    const places = placesOf(write.place.session, this.#groups);
    const needed = [places.head, placeOfPart(places, write.place)];
    const begin = this.#known(places, needed, write.ttlMs !== undefined);
    const { outcome, isGarbageLeft } = await decide(this.#entries, { places: needed, begin }, (seen) =>
      writeComponent(write, places, seen),
    );
    if (isGarbageLeft) await this.#tidy(places);
    return outcome;
  }

  remove(session: string, name?: string): Promise<void> {
    return this.#changes.run(session, () => this.#remove(session, name));
  }

  async #remove(session: string, name: string | undefined): Promise<void> {
    const places = placesOf(session, this.#groups);
    const isGarbageLeft =
      name === undefined
        ? await decide(this.#entries, { places: [places.head] }, (seen) => removeSession(places, seen))
        : (
            await decide(this.#entries, { places: [places.head, ...placesOfName(places, name)] }, (seen) =>
              removeName(name, places, seen),
            )
          ).isGarbageLeft;
    if (isGarbageLeft) await this.#tidy(places);
  }

  async places(session: string): Promise<ComponentContents> {
    const at = placesOf(session, this.#groups);
    let contents: ComponentContents | undefined;
    await retryUndefined(async () => {
      const parts: StoredEntry[] = [];
      for await (const page of pagesOfParts(this.#entries, at)) parts.push(...page);
      const seen = await this.#entries.find([at.head]);
      const stored = seen.at(at.head);
      const head = liveHead(stored, seen.now);
      const own = parts.filter((part) => livePart(part, head));
      const places = own.flatMap((part) => componentAt(session, part) ?? []);
      contents = { now: seen.now, expiresAt: head && stored?.since, places };
      // Otherwise a part came or went while the pages were read.
      return places.length === (head?.parts ?? 0) || undefined;
    });
    return contents ?? { now: 0, places: [] };
  }

  sessions(request: ComponentSessionsRequest): Promise<string[]> {
    return listComponentSessions(this.#store, this.#groups, request);
  }

  async purgeExpired(limit: number): Promise<number> {
    let count = 0;
    for (let group = 0; group < this.#groups && count < limit; group++)
      count += await this.#purge(group, limit - count);
    return count;
  }

  /** Finds what no read shows: sessions that nobody would purge, and what belongs to no session. */
  audit(request: AuditRequest): Promise<AuditPage> {
    return auditComponents({ entries: this.#entries, components: this, groups: this.#groups }, request);
  }

  async #purge(group: number, limit: number): Promise<number> {
    const { due: space } = spacesOf(group);
    let count = 0;
    let after: StoredEntry | undefined;
    do {
      const atOnce = Math.min(limit - count, DUE_AT_ONCE);
      const { entries: due } = await this.#entries.range({ space, upTo: 'now', after, limit: atOnce });
      for (const some of inBatches(due, { items: SESSIONS_AT_ONCE })) {
        const gone = await Promise.all(
          some.map((entry) => tidySession(this.#entries, placesOf(entry.name, this.#groups), entry)),
        );
        count += gone.filter(Boolean).length;
      }
      after = due.length < atOnce ? undefined : due.at(-1);
    } while (after && count < limit);
    return count;
  }

  /** What was seen last, if that is enough to decide on: it says when the session expires only as of then. */
  #known(places: SessionPlaces, needed: readonly EntryPlace[], setsExpiry: boolean): EntryView | undefined {
    const head = this.#entries.known([places.head])?.at(places.head);
    if (!head || (!setsExpiry && head.since < NEVER)) return undefined;
    return this.#entries.guess([...needed, places.due]);
  }

  async #tidy(places: SessionPlaces): Promise<void> {
    const due = (await this.#entries.find([places.due])).at(places.due);
    if (due) await tidySession(this.#entries, places, due);
  }

  /** Nothing if a text entry is missing. */
  async #textsOf(places: SessionPlaces, part: ComponentPart): Promise<readonly string[] | undefined> {
    const texts: string[] = [];
    for (const some of inBatches(textPlacesOf(places, part), TEXTS_AT_ONCE)) {
      const { entries } = await this.#store.find(some.map(({ space, name }) => ({ space, name })));
      for (const entry of entries) {
        if (!entry) return undefined;
        for (const text of textsIn(entry)) texts.push(text);
      }
    }
    for (const text of part.tail) texts.push(text);
    return texts;
  }
}
