import { isDeepStrictEqual } from 'node:util';
import type { SessionStoreEntry, SessionSummaryEntry, foldSessionSummary } from '@anthropic-ai/claude-agent-sdk';
import { createUnlessThere, isSessionChanged, Recent, retryOvertaken, sessionNameOf } from '../../adapter.js';
import {
  EventConflictError,
  type EventInput,
  LimitExceededError,
  type MetadataDelta,
  type Session,
  type SessionKey,
  SessionNotFoundError,
  type SessionService,
} from '../../index.js';
import { type EntryEvents, toEntryEvents, toEntryId } from './entry-events.js';
import { UsageCounter } from './entry-usage.js';
import type { TranscriptAddress } from './transcript-address.js';
import { storedIds } from './transcript-log.js';
import { SUMMARY_FIELD, labelsOf, subpathFields, findCustomTitle } from './transcript-metadata.js';

/** What folds entries into what lists of the SDK show. */
export type FoldSummary = typeof foldSessionSummary;

const MOST_SESSIONS = 200;
const LONGEST_SUMMARY_TEXT = 800;
/** Less than a commit may have by default. Of apps with lower limits, batches are halved. */
const MOST_EVENTS = 100;
const MOST_BYTES = 1_500_000;

/** Appends entries: a batch is one commit, unless it is too large for one. An entry with a `uuid` is stored once. */
export class TranscriptWriter {
  readonly #known = new Recent<Session>(MOST_SESSIONS);
  /** Sessions that were deleted while a run wrote to them. */
  readonly #gone = new Recent<true>(MOST_SESSIONS);
  readonly #usage = new Recent<UsageCounter>(MOST_SESSIONS);
  /** Ids of entries without `uuid` whose append failed: whoever appends them again means the same ones. */
  readonly #failed = new WeakMap<SessionStoreEntry, string>();

  constructor(
    private readonly sessions: SessionService,
    private readonly fold: FoldSummary | undefined,
  ) {}

  /** A run may begin anew where a session was deleted. */
  begin(key: SessionKey): void {
    this.#gone.delete(sessionNameOf(key));
  }

  async append(address: TranscriptAddress, entries: readonly SessionStoreEntry[]): Promise<void> {
    const name = sessionNameOf(address.key);
    const usage = new UsageCounter(this.#usage.get(name));
    const given = entries.map((entry) => {
      const id = this.#failed.get(entry) ?? toEntryId(entry);
      return { id, entry, events: toEntryEvents(entry, id, usage) };
    });
    try {
      for (const batch of batchesOf(withoutRepeated(given))) await this.#commit(address, batch);
    } catch (error) {
      for (const { id, entry } of given) this.#failed.set(entry, id);
      throw error;
    }
    for (const { entry } of given) this.#failed.delete(entry);
    this.#usage.set(name, usage);
  }

  async #commit(address: TranscriptAddress, batch: readonly EntryEvents[]): Promise<void> {
    const { key } = address;
    let left = batch;
    const isWhole = await retryOvertaken(async () => {
      if (left.length === 0) return true;
      const session = await this.#current(key);
      const events = this.#withMetadata(address, session, left);
      const expected = this.fold && { expectedVersion: session.version };
      try {
        await this.sessions.appendEvents({ session, events, ...expected });
        return true;
      } catch (error) {
        // Whatever went wrong: what is known of the session may be old.
        this.#known.delete(sessionNameOf(key));
        if (error instanceof SessionNotFoundError) this.#gone.set(sessionNameOf(key), true);
        if (error instanceof LimitExceededError && left.length > 1) return false;
        if (error instanceof EventConflictError) left = await this.#withoutStored(key, left, error);
        throw error;
      }
    }, isSessionChanged);
    if (isWhole) return;
    const half = Math.ceil(left.length / 2);
    await this.#commit(address, left.slice(0, half));
    await this.#commit(address, left.slice(half));
  }

  /** As this process knows it; created if there was none. It has no events. */
  async #current(key: SessionKey): Promise<Session> {
    const name = sessionNameOf(key);
    const known = this.#known.get(name) ?? (await this.#read(key));
    if (!known && this.#gone.has(name)) throw new SessionNotFoundError(key.sessionId);
    const current = known ?? (await createUnlessThere(this.sessions, key));
    if (!current) return this.#current(key);
    this.#known.set(name, current);
    return current;
  }

  #read(key: SessionKey): Promise<Session | undefined> {
    return this.sessions.getSession({ ...key, config: { numRecentEvents: 0 } });
  }

  /** The events, of which the first also changes what lists show of the session. */
  #withMetadata(
    address: TranscriptAddress,
    { metadata }: Session,
    batch: readonly EntryEvents[],
  ): readonly EventInput[] {
    const events = batch.flatMap((entry) => entry.events);
    const entries = batch.map(({ entry }) => entry);
    const labels = labelsOf(address);
    const isLabelled = isDeepStrictEqual({ ...metadata.labels, ...labels }, metadata.labels);
    const title = findCustomTitle(entries);
    const fields = { ...(!isLabelled && subpathFields(address)), ...this.#summaryFields(address, metadata, entries) };
    const metadataDelta: MetadataDelta = {
      ...(!isLabelled && { labels }),
      ...(title !== undefined && title !== metadata.title && { title }),
      ...(Object.keys(fields).length > 0 && { fields }),
    };
    const [first, ...others] = events;
    if (!first || Object.keys(metadataDelta).length === 0) return events;
    return [{ ...first, actions: { ...first.actions, metadataDelta } }, ...others];
  }

  /** The commit expects the version whose summary this continues. */
  #summaryFields(
    { projectKey, sessionId, subpath }: TranscriptAddress,
    { fields }: Session['metadata'],
    entries: readonly SessionStoreEntry[],
  ): Record<string, unknown> {
    if (!this.fold || subpath !== undefined) return {};
    const before = fields[SUMMARY_FIELD] as SessionSummaryEntry['data'] | undefined;
    const previous = before && { sessionId, mtime: 0, data: before };
    const folded = this.fold(previous, { projectKey, sessionId }, [...entries], { mtime: 0 });
    const data = storable(folded.data);
    return isDeepStrictEqual(data, before) ? {} : { [SUMMARY_FIELD]: data };
  }

  /** What is new in a batch of which the log has some events. */
  async #withoutStored(
    key: SessionKey,
    batch: readonly EntryEvents[],
    { seq }: EventConflictError,
  ): Promise<readonly EntryEvents[]> {
    const ids = new Set(batch.flatMap(({ events }) => events.map(({ id = '' }) => id)));
    const stored = await storedIds(this.sessions, key, ids, seq);
    return batch
      .map(({ entry, events }) => ({ entry, events: events.filter(({ id = '' }) => !stored.has(id)) }))
      .filter(({ events }) => events.length > 0);
  }
}

/** Metadata holds little, and no halves of surrogate pairs. */
function storable(data: SessionSummaryEntry['data']): SessionSummaryEntry['data'] {
  return JSON.parse(JSON.stringify(data), shortened) as SessionSummaryEntry['data'];
}

function shortened(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.slice(0, LONGEST_SUMMARY_TEXT).toWellFormed() : value;
}

/** Each entry with a `uuid` once: the first. */
function withoutRepeated<Given extends { readonly id: string }>(given: readonly Given[]): Given[] {
  const ids = new Set<string>();
  return given.filter(({ id }) => !ids.has(id) && ids.add(id));
}

/** What fits into one commit each. */
function batchesOf(entries: readonly EntryEvents[]): EntryEvents[][] {
  const batches: EntryEvents[][] = [];
  let [count, bytes] = [Infinity, 0];
  for (const { entry, events } of entries.flatMap(inParts)) {
    const size = Buffer.byteLength(JSON.stringify(events));
    if (count + events.length > MOST_EVENTS || bytes + size > MOST_BYTES) {
      batches.push([]);
      [count, bytes] = [0, 0];
    }
    batches.at(-1)?.push({ entry, events });
    count += events.length;
    bytes += size;
  }
  return batches;
}

/** The pieces of a long entry one by one. */
function inParts({ entry, events }: EntryEvents): EntryEvents[] {
  return events.length <= 2 ? [{ entry, events }] : events.map((event) => ({ entry, events: [event] }));
}
