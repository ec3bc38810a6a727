import { type FileDescription, givenFile, keptFile } from '../../adapter.js';
import type { Part } from '../../index.js';
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
