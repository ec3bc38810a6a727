import type { SessionStoreEntry } from '@anthropic-ai/claude-agent-sdk';
import { anthropicFileParts } from '../shared/anthropic-files.js';
import { isPlainObject } from '../../adapter.js';
import type { Part } from '../../index.js';
import { parsedObject } from '../shared/given-json.js';

/** What an entry says to other readers of the session. */
export interface SaidByEntry {
  readonly by: 'user' | 'claude';
  /** Tool results are for the model, like messages of the user. */
  readonly role: 'user' | 'model';
  readonly parts: Part[];
}

type Json = Readonly<Record<string, unknown>>;

/** What the entry says, or `undefined`: titles, modes, notes of the program and the like are for the SDK only. */
export function saidBy(entry: SessionStoreEntry): SaidByEntry | undefined {
  const { type, message } = entry;
  if ((type !== 'user' && type !== 'assistant') || !isPlainObject(message)) return undefined;
  if (entry.isMeta === true || entry.isCompactSummary === true || entry.isVisibleInTranscriptOnly === true) {
    return undefined;
  }
  const blocks = toContentBlocks(message.content);
  const parts = blocks.flatMap(type === 'user' ? userParts : toBlockParts);
  if (parts.length === 0) return undefined;
  if (type === 'assistant') return { by: 'claude', role: 'model', parts };
  return { by: blocks.some(isToolResult) ? 'claude' : 'user', role: 'user', parts };
}

/** The blocks of a message; a text is one block. */
function toContentBlocks(content: unknown): readonly Json[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter(isPlainObject) : [];
}

function isToolResult({ type }: Json): boolean {
  return type === 'tool_result';
}

function userParts(block: Json): Part[] {
  if (!isToolResult(block)) return toBlockParts(block);
  const { tool_use_id: id, content, is_error: isError } = block;
  const blocks = toContentBlocks(content);
  const text = blocks.flatMap((each) => (typeof each.text === 'string' ? [each.text] : [])).join('\n');
  const files = blocks.flatMap(anthropicFileParts);
  return [
    { functionResponse: { ...(typeof id === 'string' && { id }), response: parseToolResult(text, isError === true) } },
    ...files,
  ];
}

function parseToolResult(text: string, isError: boolean): Json {
  if (isError) return { error: text };
  return parsedObject(text) ?? { result: text };
}

function toBlockParts(block: Json): Part[] {
  const { type, text, thinking, signature, id, name, input } = block;
  if (type === 'text') return typeof text === 'string' && text !== '' ? [{ text }] : [];
  if (type === 'thinking' && typeof thinking === 'string') {
    return [{ text: thinking, thought: true, ...(typeof signature === 'string' && { thoughtSignature: signature }) }];
  }
  if (type === 'tool_use' && typeof name === 'string') {
    const args = isPlainObject(input) ? { ...input } : {};
    return [{ functionCall: { ...(typeof id === 'string' && { id }), name, args } }];
  }
  return anthropicFileParts(block);
}
