/** What the product itself writes, and finds again by its name. Clients may not write it; the service may. */

/**
 * Words that the product and its adapters write in a session, and no client may.
 *
 * @example const label = `${RESERVED.metadata.agents}my-framework`;
 */
export const RESERVED = {
  /**
   * How ids of events and of invocations begin, or the whole id where there is no colon. Ids are unique in a session, so a client that
   * took one first would keep the product from writing it: an approval could never be answered.
   */
  ids: {
    /** The answer to an approval. */
    answer: 'answer:',
    /** The message of an invocation. */
    message: 'message:',
    /** A message that waits for its turn, and its invocation. */
    queued: 'queued:',
    /** The event that takes a waiting message back. */
    withdrawn: 'withdrawn:',
    /** The summary up to an event. */
    summary: 'summary:',
    /** The event that says that another one was redacted. */
    redacted: 'redacted:',
    /** The title of a session. */
    title: 'session-title',
    /** Events of other systems that had no id of their own. */
    imported: 'import:',
    importedItem: 'item:',
    /** The invocation that goes on with what a page of the AI SDK answered. */
    continued: 'continue:',
    /** An operation of the OpenAI Agents SDK. */
    openaiOperation: 'openai:',
    /** Pending writes of LangGraph. */
    graphWrites: 'writes:',
  },
  /** How names of labels, tags and fields of the metadata begin. */
  metadata: { agents: 'agents:', openai: 'openai:' },
  /** How state keys begin: heads of threads of LangGraph, and what a client of AG-UI offers to a run. */
  state: { graphHead: 'langgraph:', agUiRequest: 'temp:ag-ui' },
} as const;

/** Fields of `actions` that only runs and summaries write. One alone is an order to the product, whatever it holds. */
export const RESERVED_ACTIONS: ReadonlySet<string> = new Set([
  'queued',
  'stop',
  'withdrawn',
  'discarded',
  'awaitsApproval',
  'approvalAnswer',
  'failure',
  'branchSummary',
]);

/** Authors of events that no agent can be. Clients are the first. */
const RESERVED_AUTHORS: ReadonlySet<string> = new Set(['user', 'system']);

/** Whether this is the author of what users write. */
export function isUserName(author: string | undefined): boolean {
  return author?.toLowerCase() === 'user';
}

export function isReservedAuthor(author: string): boolean {
  return RESERVED_AUTHORS.has(author.toLowerCase());
}

const IDS: readonly string[] = Object.values(RESERVED.ids);
const METADATA: readonly string[] = Object.values(RESERVED.metadata);
const STATE: readonly string[] = Object.values(RESERVED.state);

/** The reserved word in an id of an event or an invocation, if there is one. */
export function reservedInId(id: unknown): string | undefined {
  return typeof id === 'string' ? wordIn(id, IDS) : undefined;
}

/** Those in the names of labels, tags and fields. @param metadata of a session to create, or changes of it */
export function reservedInMetadata(metadata: Readonly<Record<string, unknown>>): string[] {
  const names = [metadata.labels, metadata.fields, metadata.fieldRemovals, metadata.tags].flatMap(namesIn);
  return names.flatMap((name) => wordIn(name, METADATA) ?? []);
}

export function reservedInState(key: string): string | undefined {
  return wordIn(key, STATE);
}

function wordIn(name: string, words: readonly string[]): string | undefined {
  return words.find((word) => (word.endsWith(':') ? name.startsWith(word) : name === word));
}

/** Of an object its names, and the texts in its lists: tags are `{ add, remove }` or a list. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.filter((name) => typeof name === 'string');
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) => [name, ...(Array.isArray(item) ? namesIn(item) : [])]);
}
