import { fileContent, fileUrl } from '../../agents/messages/file-content.js';
import { type FileDescription, givenFile, keptFile } from '../../agents/messages/given-files.js';
import type { Part } from '../../sessions/domain/content.js';
import type { Path } from './plain-item.js';

/** A file as a part: bytes, or where they are. */
export function filePart(
  source: unknown,
  description: FileDescription,
  at: Path,
): { readonly part: Part; readonly at: Path } | undefined {
  if (typeof source === 'string') return source === '' ? undefined : { part: givenFile(source, description), at };
  if (typeof source !== 'object' || source === null) return undefined;
  const { data, url, id, fileId, mediaType, filename } = source as Readonly<Record<string, unknown>>;
  const given: FileDescription = {
    ...description,
    ...(typeof filename === 'string' && { name: filename }),
    ...(typeof mediaType === 'string' && { mimeType: mediaType }),
  };
  if (typeof data === 'string') return { part: givenFile(data, given), at: [...at, 'data'] };
  if (typeof url === 'string') return { part: givenFile(url, given), at: [...at, 'url'] };
  const kept = id ?? fileId;
  return typeof kept === 'string' ? { part: keptFile('openai', kept, given), at } : undefined;
}

/** The content of a file as the SDK takes it: a data URL, or the place. */
export function urlOfFile(mimeType: string, part: Part): string | undefined {
  const content = fileContent(part);
  return content && fileUrl(mimeType, content);
}
