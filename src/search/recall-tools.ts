import { InvalidInputError } from '../sessions/domain/errors/errors.js';
import { checkOptions } from '../sessions/domain/values/given-options.js';
import type { UserKey } from '../sessions/domain/values/ids.js';
import { searchedText } from '../sessions/domain/search/event-text.js';
import type { StandardSchema } from '../state/standard-schema.js';
import type { SessionSearch } from './session-search.js';

/** Whose sessions the tools of a run look at. A model cannot choose another user. */
export interface RecallToolsRequest extends UserKey {
  readonly search: Pick<SessionSearch, 'searchEvents' | 'eventsAround'>;
  /** The session of the run, which its model knows: no hits of it are shown. */
  readonly currentSessionId?: string | undefined;
}

/** A tool of any framework: the JSON Schema of its arguments is `parameters`. */
export interface RecallTool<Args extends object> {
  readonly description: string;
  readonly parameters: {
    type: 'object';
    properties: Record<string, { type: 'string' | 'integer'; description: string; [keyword: string]: unknown }>;
    required: string[];
    additionalProperties: false;
  };
  /** The same, for tools of agents. It lets all objects through: what is wrong with them, `run` says. */
  readonly input: StandardSchema<unknown, Args>;
  run(args: Args): Promise<unknown>;
}

/** Arguments of `search_sessions`. */
export interface SearchSessionsArgs {
  readonly query: string;
  readonly limit?: number;
}

/** Arguments of `read_session_window`. */
export interface ReadSessionWindowArgs {
  readonly session_id: string;
  readonly seq: number;
  readonly before?: number;
  readonly after?: number;
}

/** The tools, by name. */
export interface RecallTools {
  readonly search_sessions: RecallTool<SearchSessionsArgs>;
  readonly read_session_window: RecallTool<ReadSessionWindowArgs>;
}

const MOST_HITS = 20;
const DEFAULT_HITS = 8;
const MOST_AROUND = 20;

/**
 * Two tools by which a model finds what the user said in earlier sessions: `search_sessions`, and `read_session_window` for what stands around a hit.
 * The same objects fit the tools of agents, and hold what other frameworks need.
 *
 * @example
 * const tools = recallTools({ search, appName: 'shop', userId: 'ann', currentSessionId: session.id });
 * const answer = await tools.search_sessions.run({ query: 'allergies' });
 */
export function recallTools(request: RecallToolsRequest): RecallTools {
  checkOptions('recallTools', request, { search: 'object', appName: 'id', userId: 'id', currentSessionId: 'id?' });
  const { search, appName, userId, currentSessionId } = request;
  return {
    search_sessions: tool<SearchSessionsArgs>({
      description:
        'Searches what was said in earlier conversations with this user. Finds words, not meanings: use few, rare words, and other words if nothing is found.',
      properties: {
        query: { type: 'string', description: 'Words to search for.', minLength: 1, maxLength: 1_000 },
        limit: count('How many hits to return.', 1, MOST_HITS, DEFAULT_HITS),
      },
      required: ['query'],
      async run({ query, limit = DEFAULT_HITS }) {
        const most = Math.min(limit, MOST_HITS);
        // One more than are shown: those of this session are left out.
        const page = await search.searchEvents({ appName, userId, text: query, match: 'any', limit: most + MOST_HITS });
        const found = page.hits.filter(({ sessionId }) => sessionId !== currentSessionId);
        return {
          hits: found.slice(0, most).map(({ sessionId, seq, author, at, snippet }) => {
            return { session_id: sessionId, seq, author, time: timeText(at), snippet };
          }),
          has_more: found.length > most || page.nextCursor !== undefined,
        };
      },
    }),
    read_session_window: tool<ReadSessionWindowArgs>({
      description: 'Reads what was said before and after a hit of search_sessions.',
      properties: {
        session_id: { type: 'string', description: 'The session_id of the hit.' },
        seq: { type: 'integer', description: 'The seq of the hit.', minimum: 1 },
        before: count('How many events before it.', 0, MOST_AROUND, 5),
        after: count('How many events after it.', 0, MOST_AROUND, 5),
      },
      required: ['session_id', 'seq'],
      async run({ session_id: sessionId, seq, before, after }) {
        const { events } = await search.eventsAround({ appName, userId, sessionId, seq, before, after });
        return {
          events: events.flatMap((event) => {
            const text = searchedText(event);
            return text === '' ? [] : [{ seq: event.seq, author: event.author, time: timeText(event.timestamp), text }];
          }),
        };
      },
    }),
  };
}

type Property = RecallTool<object>['parameters']['properties'][string];

interface Described<Args extends object> {
  readonly description: string;
  readonly properties: Record<keyof Args & string, Property>;
  readonly required: (keyof Args & string)[];
  run(args: Args): Promise<unknown>;
}

function tool<Args extends object>(described: Described<Args>): RecallTool<Args> {
  const { description, properties, required } = described;
  const parameters: RecallTool<Args>['parameters'] = {
    type: 'object',
    properties,
    required,
    additionalProperties: false,
  };
  const standard = {
    version: 1 as const,
    vendor: 'nestjs-agent-sessions',
    validate: (value: unknown) => (isObject(value) ? { value: value as Args } : { issues: [{ message: NO_OBJECT }] }),
    jsonSchema: { input: () => parameters },
  };
  return {
    description,
    parameters,
    input: { '~standard': standard },
    async run(args) {
      if (!isObject(args)) throw new InvalidInputError(NO_OBJECT, 'arguments');
      return described.run(args);
    },
  };
}

const NO_OBJECT = 'must be an object';

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function count(description: string, minimum: number, maximum: number, standard: number): Property {
  return { type: 'integer', description, minimum, maximum, default: standard };
}

function timeText(at: number): string {
  return new Date(at).toISOString();
}
