import type { Part } from '../../sessions/domain/event.js';
import { fileContent, fileUrl } from '../../agents/messages/file-content.js';
import type { Path } from './plain-item.js';

const DATA_URL = /^data:([^;,]+);base64,(.*)$/s;
const PLAIN_URL = /^[a-z][a-z\d+.-]*:/i;
const UNKNOWN_TYPE = 'application/octet-stream';

/** A file as a part: bytes, or where they are. */
export function filePart(
  source: unknown,
  type: string | undefined,
  at: Path,
  filename?: unknown,
): { readonly part: Part; readonly at: Path } | undefined {
  const named = typeof filename === 'string' ? { displayName: filename } : {};
  if (typeof source === 'string') return source === '' ? undefined : { part: partOfText(source, type, named), at };
  if (typeof source !== 'object' || source === null) return undefined;
  const { data, url, id, fileId, mediaType, filename: ownName } = source as Readonly<Record<string, unknown>>;
  const name = typeof ownName === 'string' ? { displayName: ownName } : named;
  const mimeType = typeof mediaType === 'string' ? mediaType : (type ?? UNKNOWN_TYPE);
  if (typeof data === 'string') return { part: partOfText(data, mimeType, name), at: [...at, 'data'] };
  const ofType = typeof mediaType === 'string' || type !== undefined ? { mimeType } : {};
  if (typeof url === 'string') return { part: { fileData: { fileUri: url, ...ofType, ...name } }, at: [...at, 'url'] };
  const fileName = id ?? fileId;
  if (typeof fileName !== 'string') return undefined;
  return { part: { fileData: { fileUri: `openai:${fileName}`, ...ofType, ...name } }, at };
}

function partOfText(source: string, type: string | undefined, name: { readonly displayName?: string }): Part {
  const [, mimeType, data] = DATA_URL.exec(source) ?? [];
  if (mimeType !== undefined && data !== undefined) return { inlineData: { mimeType, data, ...name } };
  if (PLAIN_URL.test(source)) return { fileData: { fileUri: source, ...(type && { mimeType: type }), ...name } };
  return { inlineData: { mimeType: type ?? UNKNOWN_TYPE, data: source, ...name } };
}

/** The content of a file as the SDK takes it: a data URL, or the place. */
export function urlOfFile(mimeType: string, part: Part): string | undefined {
  const content = fileContent(part);
  return content && fileUrl(mimeType, content);
}
