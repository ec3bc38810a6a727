import { givenFile, isPlainObject, keptFile } from '../../adapter.js';
import type { Part } from '../../index.js';

/** The file of a block of Anthropic's API with a `source`: an `image` or a `document`. Documents of text are text. */
export function anthropicFileParts(block: Readonly<Record<string, unknown>>): Part[] {
  const { type, source, title } = block;
  if (!isPlainObject(source)) return [];
  const { data, media_type: mediaType, url, file_id: id, content } = source;
  const name = typeof title === 'string' ? title : undefined;
  const kind = type === 'image' ? 'image' : undefined;
  switch (source.type) {
    case 'base64':
      if (typeof data !== 'string') return [];
      return [givenFile(data, { name, kind, ...(typeof mediaType === 'string' && { mimeType: mediaType }) })];
    case 'url':
      // Of documents, the API takes PDF files by their URL.
      return typeof url === 'string' ? [givenFile(url, { name, kind, ...(!kind && { mimeType: PDF }) })] : [];
    case 'file':
      return typeof id === 'string' ? [keptFile('anthropic', id, { name, kind })] : [];
    case 'text':
      return typeof data === 'string' ? [{ text: data }] : [];
    case 'content':
      return contentParts(content);
    default:
      return [];
  }
}

const PDF = 'application/pdf';

function contentParts(content: unknown): Part[] {
  if (typeof content === 'string') return [{ text: content }];
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  return blocks.filter(isPlainObject).flatMap((block) => {
    return typeof block.text === 'string' ? [{ text: block.text }] : anthropicFileParts(block);
  });
}
