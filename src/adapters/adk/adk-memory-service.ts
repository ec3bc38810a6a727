import type { BaseMemoryService, MemoryEntry, SearchMemoryRequest, SearchMemoryResponse, Session } from '@google/adk';
import { checkOptions } from '../../adapter.js';
import { InvalidInputError, SessionNotFoundError, type SessionService } from '../../index.js';
import type { SearchHit, SessionSearch } from '../../search/index.js';

/** What an {@link AdkMemoryService} needs. */
export interface AdkMemoryServiceOptions {
  readonly sessions: SessionService;
  readonly search: SessionSearch;
  /** How many memories a search returns at most. Default: 10. */
  readonly limit?: number | undefined;
}

/** Longer questions are cut: a search takes no more. */
const MOST_CHARACTERS = 1_000;
const MOST_MEMORIES = 50;
/** Of a store without an index: each of 2,000 events at most, the newest sessions first. */
const MOST_PARTS = 10;

/**
 * The memory of Google's ADK, for its tools `load_memory` and `preload_memory`: all that a user said in the sessions of the store. There is
 * nothing to add to it.
 *
 * @example
 * const memoryService = new AdkMemoryService({ sessions, search });
 * const runner = new Runner({ appName: 'shop', agent, sessionService, memoryService });
 */
export class AdkMemoryService implements BaseMemoryService {
  readonly #options: AdkMemoryServiceOptions;
  readonly #limit: number;

  constructor(options: AdkMemoryServiceOptions) {
    checkOptions('AdkMemoryService', options, { sessions: 'object', search: 'object', limit: 'anything?' });
    const { limit = 10 } = options;
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST_MEMORIES) {
      throw new InvalidInputError(`must be a whole number from 1 to ${MOST_MEMORIES}`, 'limit');
    }
    this.#options = options;
    this.#limit = limit;
  }

  /** Events of the store are found by themselves, each once. Refuses a session that is not there. */
  async addSessionToMemory({ appName, userId, id: sessionId }: Session): Promise<void> {
    const key = { appName, userId, sessionId, config: { numRecentEvents: 0 } };
    if (await this.#options.sessions.getSession(key)) return;
    throw new InvalidInputError('is not in the store: its Runner needs an AdkSessionService', 'session');
  }

  async searchMemory({ appName, userId, query }: SearchMemoryRequest): Promise<SearchMemoryResponse> {
    // A model may leave out what it asks for.
    if (typeof query !== 'string') throw new InvalidInputError('must be a string', 'query');
    const text = query.slice(0, MOST_CHARACTERS);
    if (text.trim() === '') return { memories: [] };
    const search = { appName, userId, text, match: 'any', limit: this.#limit, parts: MOST_PARTS } as const;
    const { hits } = await this.#options.search.searchEvents(search);
    const memories = await Promise.all(hits.map((hit) => this.#memoryOf({ appName, userId }, hit)));
    return { memories: memories.flatMap((memory) => memory ?? []) };
  }

  /** Tools of ADK read texts only, so that of an event without one they get what was found. */
  async #memoryOf(
    user: { readonly appName: string; readonly userId: string },
    { sessionId, seq, author, at, snippet }: SearchHit,
  ): Promise<MemoryEntry | undefined> {
    const { events } = await this.#options.search
      .eventsAround({ ...user, sessionId, seq, before: 0, after: 0 })
      .catch((error: unknown) => {
        // It was deleted after it was found.
        if (error instanceof SessionNotFoundError) return { events: [] };
        throw error;
      });
    const content = events[0]?.content;
    if (!content) return undefined;
    const hasText = content.parts?.some(({ text, thought }) => text !== undefined && !thought) ?? false;
    const shown = hasText ? content : { role: content.role, parts: [{ text: snippet }] };
    return { content: shown as MemoryEntry['content'], author, timestamp: new Date(at).toISOString() };
  }
}
