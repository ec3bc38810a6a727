import { isRedacted } from '../event/event-inspection.js';
import type { Part } from '../event/content.js';
import type { EventLike } from '../event/event.js';
import { REDACTED_TEXT } from '../write/redacted-event.js';

/** The rest of an event is not searched. */
const MAX_SEARCHED_CHARACTERS = 8_000;

/** What has no spaces for so long is data, not words. */
const ENCODED = /^(data:|[\w+/=-]{256,}$)/;

/** A tool that searches: what its arguments and its responses have. An app may have another tool of the same name. */
interface RecallTool {
  readonly asks: string;
  readonly answers: string;
}

/** Those of `recallTools` and of ADK: their calls and responses would be found instead of what they look for. */
const RECALL_TOOLS: ReadonlyMap<string, RecallTool> = new Map([
  ['search_sessions', { asks: 'query', answers: 'has_more' }],
  ['read_session_window', { asks: 'session_id', answers: 'events' }],
  ['load_memory', { asks: 'query', answers: 'memories' }],
]);

/**
 * The text of an event that a search looks at: what was said, the names of tools with their arguments and responses, and code. Empty for
 * summaries, whose events are found themselves, for redacted events, and for events that say nothing, such as changes of state.
 *
 * @example searchedText({ author: 'user', content: { parts: [{ text: 'My  order' }] } }); // 'My order'
 */
export function searchedText(event: EventLike): string {
  if (event.actions?.compaction || isRedacted(event)) return '';
  const texts = new TextCollector(MAX_SEARCHED_CHARACTERS);
  for (const part of event.content?.parts ?? []) addPart(texts, part);
  return texts.text;
}

function addPart(texts: TextCollector, part: Part): void {
  const { text, functionCall: call, functionResponse: response, executableCode, codeExecutionResult } = part;
  if (part.thought || text === REDACTED_TEXT || isRecall(part)) return;
  texts.add(text);
  texts.add(call?.name);
  texts.add(call?.args);
  texts.add(response?.name);
  texts.add(response?.response);
  texts.add(executableCode?.code);
  texts.add(codeExecutionResult?.output);
}

function isRecall({ functionCall: call, functionResponse: response }: Part): boolean {
  const tool = RECALL_TOOLS.get(call?.name ?? response?.name ?? '');
  if (!tool) return false;
  if (call) return Object.hasOwn(call.args ?? {}, tool.asks);
  return (JSON.stringify(response?.response) ?? '').includes(tool.answers);
}

/** Joins texts, up to a length. */
class TextCollector {
  #text = '';

  constructor(private readonly limit: number) {}

  get text(): string {
    // An emoji is two characters, of which the first one alone is none.
    return this.#text.slice(0, this.limit).replace(/[\ud800-\udbff]$/, '');
  }

  /** Of an object its names and values; of other values how they are written. */
  add(value: unknown): void {
    if (this.#text.length >= this.limit || value === undefined || value === null) return;
    if (typeof value === 'object') {
      const isList = Array.isArray(value);
      for (const [name, item] of Object.entries(value)) {
        if (!isList) this.add(name);
        this.add(item);
      }
      return;
    }
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    if (!ENCODED.test(text)) this.#addText(text.slice(0, this.limit));
  }

  /** Without control characters, of which PostgreSQL does not store U+0000. */
  #addText(text: string): void {
    const plain = text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
    if (plain !== '') this.#text += this.#text === '' ? plain : ` ${plain}`;
  }
}
