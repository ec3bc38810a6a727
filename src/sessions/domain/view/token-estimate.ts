import type { Content, Part } from '../event/content.js';

export const CHARACTERS_PER_TOKEN = 4;
/** About what vendors count for an image. */
export const TOKENS_OF_A_FILE = 1_000;

/**
 * About how many tokens a content costs as a model's input: four characters of text or JSON are a token, and a file is a thousand.
 *
 * @example estimateTokens({ parts: [{ text: 'Hello!' }] }) // 2
 */
export function estimateTokens(content: Content | undefined | null): number {
  const parts = content?.parts ?? [];
  return Math.ceil(parts.reduce((sum, part) => sum + estimatePartTokens(part), 0));
}

function estimatePartTokens(part: Part): number {
  if (part.inlineData ?? part.fileData) return TOKENS_OF_A_FILE;
  const { text, thoughtSignature: _signature, partMetadata: _metadata, ...others } = part;
  const characters = typeof text === 'string' ? text.length : JSON.stringify(others).length;
  return characters / CHARACTERS_PER_TOKEN;
}
