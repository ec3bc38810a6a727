import { anthropicFileParts } from '../shared/anthropic-files.js';
import { isPlainObject } from '../../adapter.js';
import type { Part } from '../../index.js';
import { type Json, textIn, toJsonRecord, toTextOrEmpty } from '../shared/given-json.js';
import { fileBlockPart } from './file-blocks.js';

/**
 * Text, files and thoughts of a message's content, in the blocks of LangChain's standard and of the vendors whose blocks it takes.
 * Calls of tools are no parts: messages have them beside their content.
 */
export function contentParts(content: unknown): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }];
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return blocks.flatMap((block) => blockParts(block));
}

/** The parts of one block, none if it says nothing that an event can say. */
function blockParts(given: unknown): Part[] {
  if (typeof given === 'string') return [{ text: given }];
  const block = toJsonRecord(given);
  const text = plainText(block);
  const { thoughtSignature: signature } = block;
  // A model of Google signs texts, too.
  if (text !== undefined && block.thought !== true)
    return [{ text, ...(typeof signature === 'string' && { thoughtSignature: signature }) }];
  const thought = text === undefined ? thoughtIn(block) : thoughtPart(text, signature);
  if (thought) return [thought];
  const { executableCode, codeExecutionResult } = block;
  if (isPlainObject(executableCode)) return [{ executableCode }];
  if (isPlainObject(codeExecutionResult)) return [{ codeExecutionResult }];
  const ofAnthropic = anthropicFileParts(block);
  if (ofAnthropic.length > 0) return ofAnthropic;
  const file = fileBlockPart(block);
  return file ? [file] : [];
}

/** The types of blocks of text. Files of plain text are text, too. */
const TEXTS: ReadonlySet<unknown> = new Set(['text', 'input_text', 'output_text', 'text-plain']);

function plainText(block: Json): string | undefined {
  const { type, source_type: source, text, refusal } = block;
  if (type === 'refusal') return textIn(refusal);
  return TEXTS.has(type) || source === 'text' ? textIn(text) : undefined;
}

/** Of Anthropic, of LangChain's standard, of OpenAI, and of Bedrock. */
function thoughtIn(block: Json): Part | undefined {
  const { type, thinking, reasoning, summary, signature, reasoningText } = block;
  switch (type) {
    case 'thinking':
      return thoughtPart(thinking, signature);
    case 'reasoning':
      return thoughtPart(reasoning ?? summaryText(summary), signature);
    case 'reasoning_content': {
      const inner = toJsonRecord(reasoningText);
      return thoughtPart(inner.text ?? reasoningText, inner.signature);
    }
    default:
      return undefined;
  }
}

/** A thought is a part if it can be read. */
export function thoughtPart(text: unknown, signature?: unknown): Part | undefined {
  if (typeof text !== 'string' || text === '') return undefined;
  return {
    text,
    thought: true,
    ...(typeof signature === 'string' && signature !== '' && { thoughtSignature: signature }),
  };
}

function summaryText(summary: unknown): string {
  const parts: readonly unknown[] = Array.isArray(summary) ? summary : [];
  return parts.map((part) => toTextOrEmpty(toJsonRecord(part).text)).join('\n');
}
