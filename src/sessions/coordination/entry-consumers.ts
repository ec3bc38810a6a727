import { inBatches } from '../domain/stored/batches.js';
import type { NoteOutcome, WorkEntry, WorkProgress } from '../domain/background/consumer-work.js';
import type { UserKey } from '../domain/values/ids.js';
import { retryUndefined } from '../domain/process/retry-overtaken.js';
import type {
  ChangedSession,
  ClaimRequest,
  ConsumerStore,
  DispatchRequest,
  SessionMarks,
  StoredConsumer,
  StoredLag,
} from '../storage/coordination.js';
import { PARKED, type StoredEntry } from '../storage/entry-store.js';
import { CONSUMERS, consumerIn, placeOfConsumer, registerConsumer } from './consumer-writes.js';
import { decide, noAnswer } from './decide.js';
import { dispatchWork, placesOfDispatch } from './dispatch-work.js';
import { EntryView } from './entry-view.js';
import type { KnownEntries } from './known-entries.js';
import { removeFound, removeWhere } from './remove-entries.js';
import { placeOfWork, spaceOfWork, workIn, workPrefixOf } from './work-entries.js';
import { claimWork, noteWork, placesOfNote, resolveLetter, workToClaim } from './work-writes.js';

/** What one read or write may have, beside the consumers of a dispatch and its token. */
const MOST = 900;

/** Consumers and their work as entries. */
export class EntryConsumers implements ConsumerStore {
  /** @param markDispatched notes that sessions are dispatched, as they were read; those that changed or are gone are left out */
  constructor(
    private readonly entries: KnownEntries,
    private readonly marks: SessionMarks,
    private readonly markDispatched: (taken: readonly ChangedSession[]) => Promise<void>,
  ) {}

  async register(name: string, settings: string): Promise<StoredConsumer> {
    const places = [placeOfConsumer(name)];
    const begin = this.entries.guess(places);
    return decide(this.entries, { places, begin }, (seen) =>
      registerConsumer(name, settings, this.marks.lagMs ?? 0, seen),
    );
  }

  async list(): Promise<StoredConsumer[]> {
    const all: StoredConsumer[] = [];
    let after: StoredEntry | undefined;
    do {
      const { entries } = await this.entries.range({ space: CONSUMERS, after, limit: MOST });
      all.push(...entries.map(consumerIn));
      after = entries.length < MOST ? undefined : entries.at(-1);
    } while (after);
    return all;
  }

  /** A dispatch may add work before the consumer is gone, but not after that. */
  async remove(name: string, limit: number): Promise<boolean> {
    const place = placeOfConsumer(name);
    if (!(await this.#removeWork(name, limit))) return false;
    await decide(this.entries, { places: [place], begin: this.entries.known([place]) }, (seen) => {
      const stored = seen.at(place);
      const writes = stored && [{ ...place, expected: stored.stamp, next: undefined }];
      return { writes, answer: noAnswer };
    });
    return this.#removeWork(name, limit);
  }

  apps(): Promise<string[]> {
    return this.marks.apps();
  }

  changed(limit: number): Promise<ChangedSession[]> {
    return this.marks.changed(limit);
  }

  /** New settings are stored with the last batch of work. */
  async dispatch({ token, work, taken, settings }: DispatchRequest): Promise<boolean> {
    const batches = work.length > 0 ? inBatches(work, { items: MOST }) : [[]];
    for (const [index, batch] of batches.entries()) {
      const step = { token, work: batch, settings: index === batches.length - 1 ? settings : undefined };
      const places = placesOfDispatch(step);
      const begin = this.entries.guess(places);
      if (!(await decide(this.entries, { places, begin }, (seen) => dispatchWork(step, seen)))) return false;
    }
    await this.markDispatched(taken);
    return true;
  }

  async claim(request: ClaimRequest): Promise<WorkEntry[]> {
    const claimed = await retryUndefined((attempt) => this.#tryToClaim(request, attempt));
    return claimed ? [...claimed] : [];
  }

  async note(entry: WorkEntry, progress: WorkProgress): Promise<NoteOutcome> {
    const places = placesOfNote(entry, progress);
    const begin = this.entries.guess(places);
    return decide(this.entries, { places, begin }, (seen) => noteWork(entry, progress, seen));
  }

  async deadLetters(consumer: string, limit: number): Promise<WorkEntry[]> {
    const { entries } = await this.entries.range({ space: spaceOfWork(consumer), from: PARKED, limit });
    return entries.map(workIn);
  }

  async resolve(letter: WorkEntry, how: 'retry' | 'drop'): Promise<boolean> {
    const place = placeOfWork(letter);
    const begin = this.entries.known([place]);
    return decide(this.entries, { places: [place], begin }, (seen) => resolveLetter(seen.at(place), how));
  }

  async lag(consumer: string): Promise<StoredLag> {
    const { now, waiting, oldestSince, parked } = await this.entries.count(spaceOfWork(consumer));
    return { sessions: waiting, ...(oldestSince !== undefined && { oldestSince }), deadLetters: parked, now };
  }

  async removeWorkOn(user: UserKey): Promise<void> {
    const prefix = workPrefixOf(user);
    for (const { name } of await this.list()) {
      await removeWhere(this.entries, spaceOfWork(name), (work) => work.startsWith(prefix));
    }
  }

  /** Returns whether that was all. */
  async #removeWork(consumer: string, limit: number): Promise<boolean> {
    const { now, entries } = await this.entries.range({ space: spaceOfWork(consumer), limit });
    if (entries.length > 0) await removeFound(this.entries, entries, now);
    return entries.length < limit;
  }

  /** `undefined` if others claimed all that was found. */
  async #tryToClaim(request: ClaimRequest, attempt: number): Promise<readonly WorkEntry[] | undefined> {
    const { consumer, limit } = request;
    const range = { space: spaceOfWork(consumer), upTo: 'now', limit: Math.min(limit * attempt, MOST) } as const;
    const { now, entries } = await this.entries.range(range);
    if (entries.length === 0) return [];
    const places = workToClaim(entries, limit, attempt, Math.random());
    const begin = EntryView.of(now, places, places);
    const claimed = await decide(this.entries, { places, begin }, (seen) => claimWork(places, request, seen));
    return claimed.length > 0 ? claimed : undefined;
  }
}
