import type { Part } from '../../sessions/domain/event.js';

/** Text and files of a message's content. */
export function contentParts(content: unknown): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }];
  return Array.isArray(content) ? content.flatMap(blockParts) : [];
}

function blockParts(block: unknown): Part[] {
  if (typeof block === 'string') return [{ text: block }];
  if (typeof block !== 'object' || block === null) return [];
  const type: unknown = Reflect.get(block, 'type');
  const text: unknown = Reflect.get(block, 'text');
  if (type === 'text' && typeof text === 'string') return [{ text }];
  const data: unknown = Reflect.get(block, 'data');
  const mimeType: unknown = Reflect.get(block, 'mimeType') ?? Reflect.get(block, 'mime_type');
  if (typeof data === 'string' && typeof mimeType === 'string') return [{ inlineData: { data, mimeType } }];
  const url: unknown = Reflect.get(block, 'url');
  return typeof url === 'string' ? [{ fileData: { fileUri: url } }] : [];
}
