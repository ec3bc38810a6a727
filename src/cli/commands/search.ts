import { type SearchEventsRequest, SessionSearch } from '../../search/index.js';
import type { CommandContext } from '../command-context.js';
import { shown } from '../output.js';

/** Options of `search`. */
export interface SearchOptions {
  readonly any?: boolean | undefined;
  readonly session?: string | undefined;
  readonly limit?: number | undefined;
}

const DEFAULT_HITS = 20;
const HITS_PER_PAGE = 50;

/** Finds what a user said, also beyond the bound of one search. */
export async function search(
  context: CommandContext,
  { any = false, session: sessionId, limit = DEFAULT_HITS }: SearchOptions,
  appName: string,
  userId: string,
  text: string,
): Promise<void> {
  const { output, signal } = context;
  const found = new SessionSearch({ sessions: await context.sessions() });
  const request: SearchEventsRequest = { appName, userId, text, sessionId, match: any ? 'any' : 'all' };
  let cursor: string | undefined;
  let left = limit;
  while (left > 0) {
    const page = await found.searchEvents({ ...request, limit: Math.min(left, HITS_PER_PAGE), cursor });
    for (const hit of page.hits) {
      const place = `${hit.sessionId}  ${hit.seq}  ${new Date(hit.at).toISOString()}  ${hit.author}`;
      await output.result(shown(`${place}  ${hit.snippet}`), hit);
    }
    left -= page.hits.length;
    cursor = page.nextCursor;
    if (cursor === undefined) return;
    signal.throwIfAborted();
  }
}

/** Makes the search index again: of a user, of an app, or of all. */
export async function searchRebuild(
  context: CommandContext,
  _options: object,
  appName?: string,
  userId?: string,
): Promise<void> {
  const found = new SessionSearch({ sessions: await context.sessions() });
  const rebuilt = await found.rebuild({ appName, userId });
  const about = found.hasIndex
    ? `indexed ${rebuilt.events} events of ${rebuilt.sessions} sessions`
    : 'this store has no search index: a search reads its logs';
  await context.output.result(about, rebuilt);
}
