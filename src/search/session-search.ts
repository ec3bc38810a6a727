import type { SessionLimits } from '../config/session-settings.js';
import type { ConsumerLag } from '../sessions/consumers/consumer-status.js';
import type { SessionConsumer } from '../sessions/consumers/session-consumers.js';
import { checkOptions } from '../sessions/domain/values/given-options.js';
import { type SessionKey, type UserKey, assertId } from '../sessions/domain/values/ids.js';
import { fieldNames, requestCheck, requireRequest } from '../sessions/domain/values/request-fields.js';
import type { EventPage } from '../sessions/operations/list-events.js';
import { readsOfStorage } from '../sessions/reads/reads-of-storage.js';
import { environmentBehind } from '../sessions/service-environment.js';
import { readsOf } from '../sessions/reads-of.js';
import type { SessionService } from '../sessions/session.service.js';
import { tracedWork } from '../sessions/tracing/trace.js';
import type { TracedOperation } from '../sessions/tracing/operation-channels.js';
import type { SearchIndex } from '../sessions/storage/search-index.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { EntryBatches } from './entry-batches.js';
import { eventsAround } from './events-around.js';
import type { EventsAroundRequest, SearchEventsRequest, SearchPage, SearchStatus } from './found-events.js';
import { searchIndexed } from './indexed-search.js';
import { type RebuildRequest, type RebuiltIndex, checkedRebuild, rebuildIndex } from './rebuild-index.js';
import { searchByScan } from './scanned-search.js';
import { searchEntryOf } from '../sessions/operations/search-entry.js';
import { type CheckedSearch, checkedSearch } from './search-request.js';

/** The durable consumer that fills the index. */
export const SEARCH_CONSUMER = 'search-index';

/** Options of {@link SessionSearch}. */
export interface SessionSearchOptions {
  readonly sessions: SessionService;
  /** Only these apps are indexed. Default: all apps. */
  readonly apps?: readonly string[] | undefined;
  /** How often this instance looks for events of other processes. Default: 1,000 ms. */
  readonly pollMs?: number | undefined;
}

const checkedFields = requestCheck({ status: fieldNames<UserKey>({ appName: true, userId: true }) });
/** Sessions that are indexed at the same time: they share transactions. */
const CONCURRENCY = 32;
const UP_TO_DATE: ConsumerLag = { sessions: 0, undispatched: 0, oldestWaitMs: 0, deadLetters: 0, isFilling: false };

/**
 * Finds events of a user's own sessions by their words. In SQLite, MySQL, MariaDB and PostgreSQL, an index beside the log is kept by a durable
 * consumer; other stores are read.
 *
 * @example
 * const search = new SessionSearch({ sessions });
 * await search.start(); // on each instance: indexes what is appended, and what is there
 * const { hits } = await search.searchEvents({ appName: 'shop', userId: 'ann', text: 'refund' });
 */
export class SessionSearch {
  readonly #sessions: SessionService;
  readonly #storage: SessionStorage;
  readonly #index: SearchIndex | undefined;
  readonly #limits: SessionLimits;
  readonly #options: SessionSearchOptions;
  #consumer: Promise<SessionConsumer> | undefined;

  constructor(options: SessionSearchOptions) {
    checkOptions('SessionSearch', options, { sessions: 'object', apps: 'texts?', pollMs: 'count?' });
    this.#options = options;
    this.#sessions = options.sessions;
    const { storage, limits } = environmentBehind(options.sessions);
    this.#storage = storage;
    this.#limits = limits;
    this.#index = this.#storage.search;
  }

  /** Whether the store has an index. Without one, a search reads a part of the logs at a time. */
  get hasIndex(): boolean {
    return this.#index !== undefined;
  }

  /**
   * Makes the index if it is not there, and begins to fill it: at the start of every log, later where it stopped. Does nothing for a store
   * without one.
   * @example await search.start();
   */
  async start(): Promise<void> {
    const index = this.#index;
    if (!index) return;
    this.#consumer ??= this.#consume(index).catch((error: unknown) => {
      this.#consumer = undefined;
      throw error;
    });
    await this.#consumer;
  }

  /**
   * Ends the work of this instance; others go on.
   * @example await search.stop();
   */
  async stop(): Promise<void> {
    const consumer = await this.#consumer?.catch(() => undefined);
    this.#consumer = undefined;
    await consumer?.stop();
  }

  /**
   * Finds events of a user by words: the best first, of these the newest.
   * @example const { hits, nextCursor } = await search.searchEvents({ appName: 'shop', userId: 'ann', text: 'refund order' });
   */
  async searchEvents(request: SearchEventsRequest): Promise<SearchPage> {
    const checked = checkedSearch(request, { hasIndex: this.hasIndex, limits: this.#limits });
    const storage = readsOfStorage(this.#storage);
    const search = (): Promise<SearchPage> =>
      storage.search ? searchIndexed(storage.search, checked) : searchByScan(storage, checked);
    return tracedWork('searchEvents', () => idsIn(checked), search);
  }

  /**
   * Reads what was said around an event.
   * @example const { events } = await search.eventsAround({ appName: 'shop', userId: 'ann', sessionId, seq: hit.seq });
   */
  async eventsAround(request: EventsAroundRequest): Promise<EventPage> {
    return eventsAround(readsOf(this.#sessions), request);
  }

  /**
   * What is not indexed yet. `undefined` if no instance has ever started to.
   * @example const { sessions: waiting = 0, isFilling } = (await search.lag()) ?? {};
   */
  async lag(): Promise<ConsumerLag | undefined> {
    return this.#index ? this.#sessions.consumers.lag(SEARCH_CONSUMER) : UP_TO_DATE;
  }

  /**
   * How old the index is that a search of a user asks, without counts of what others store in it.
   * @example const { behindMs } = await search.status({ appName: 'shop', userId: 'ann' }); // 0: what was said is found
   */
  async status(request: UserKey): Promise<SearchStatus> {
    const { appName, userId } = checkedFields('status', request);
    assertId(appName, 'appName');
    assertId(userId, 'userId');
    const lag = await this.lag();
    const { isFilling = false, deadLetters = 0, oldestWaitMs: behindMs = 0 } = lag ?? {};
    return { isKept: lag !== undefined, isFilling, hasGaps: deadLetters > 0, behindMs };
  }

  /**
   * Empties the index of a user, of an app or of all, and fills it from the logs.
   * @example await search.rebuild({ appName: 'shop' });
   */
  async rebuild(request: RebuildRequest = {}): Promise<RebuiltIndex> {
    const owner = checkedRebuild(requireRequest(request));
    return this.#index ? rebuildIndex(this.#storage, this.#index, owner) : { sessions: 0, events: 0 };
  }

  async #consume(index: SearchIndex): Promise<SessionConsumer> {
    await index.open();
    const { apps, pollMs } = this.#options;
    const batches = new EntryBatches(index, !this.#sessions.keepsHistory);
    return this.#sessions.consume({
      name: SEARCH_CONSUMER,
      from: 'start',
      apps,
      pollMs,
      concurrency: CONCURRENCY,
      async handler({ key, event, incarnation }) {
        // It may have been read before it was redacted, and added afterwards.
        const redacted = event.actions.redacts?.id;
        if (redacted !== undefined) await index.replace(incarnation, redacted, undefined);
        const entry = searchEntryOf(key, incarnation, event);
        if (entry) await batches.add(entry);
      },
    });
  }
}

function idsIn({ scope: { appName, userId, sessionId } }: CheckedSearch): Pick<TracedOperation, keyof SessionKey> {
  return { appName, userId, sessionId };
}
