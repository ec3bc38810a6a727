import { type FileDescription, givenFile, keptFile } from '../../adapter.js';
import type { Part } from '../../index.js';
import { type Json, textIn, toJsonRecord, toTextOrEmpty } from '../shared/given-json.js';

/** The file of a block: of LangChain's standard, new and old, of OpenAI, Google and Bedrock. Those of Anthropic have a `source`. */
export function fileBlockPart(block: Json): Part | undefined {
  const { type } = block;
  if (typeof type === 'string' && type.endsWith('_url')) return urlBlock(block, type);
  switch (type) {
    case 'input_audio':
      return audioBlock(toJsonRecord(block.input_audio));
    case 'input_image':
      return openAiFile(block.image_url, block.file_id, { kind: 'image', ...detailIn(block) });
    case 'input_file':
      return openAiFile(block.file_data ?? block.file_url, block.file_id, { name: textIn(block.filename) });
    case 'inlineData':
      return googleFile(toJsonRecord(block.inlineData));
    case 'fileData':
      return googleFile(toJsonRecord(block.fileData));
    case 'media':
      return googleFile(block);
    default:
      return vendorFile(block) ?? standardFile(block);
  }
}

/** `image_url`, and those that other vendors name like it. */
function urlBlock(block: Json, type: string): Part | undefined {
  const given = block[type];
  const inner = toJsonRecord(given);
  const url = textIn(given) ?? textIn(inner.url);
  return url === undefined
    ? undefined
    : givenFile(url, { kind: kindIn(type.slice(0, -'_url'.length)), ...detailIn(inner) });
}

function audioBlock({ data, format }: Json): Part | undefined {
  if (typeof data !== 'string') return undefined;
  return givenFile(data, typeof format === 'string' ? { mimeType: `audio/${format}` } : { kind: 'audio' });
}

function openAiFile(content: unknown, id: unknown, about: FileDescription): Part | undefined {
  if (typeof content === 'string') return givenFile(content, about);
  return typeof id === 'string' ? keptFile('openai', id, about) : undefined;
}

function googleFile({ data, fileUri, mimeType, displayName }: Json): Part | undefined {
  const source = bytesText(data) ?? textIn(fileUri);
  return source === undefined
    ? undefined
    : givenFile(source, { mimeType: textIn(mimeType), name: textIn(displayName) });
}

/** `{ type: 'file', file }` of OpenAI; `{ type: 'image', image }` and the like of Bedrock. */
function vendorFile(block: Json): Part | undefined {
  const type = toTextOrEmpty(block.type);
  const inner = toJsonRecord(block[type]);
  const { format, source, file_data: fileData, data = fileData, file_id: id, filename, name } = inner;
  if (type === 'file') return openAiFile(data, id, { name: textIn(filename) });
  const { bytes, s3Location } = toJsonRecord(source);
  const content = bytesText(bytes) ?? textIn(toJsonRecord(s3Location).uri);
  if (content === undefined || typeof format !== 'string') return undefined;
  return givenFile(content, { format, kind: kindIn(type), name: textIn(name) });
}

const STANDARD: ReadonlySet<unknown> = new Set(['image', 'audio', 'video', 'file', 'text-plain']);

/** A file of LangChain, as TypeScript and Python write it. */
function standardFile(block: Json): Part | undefined {
  if (!STANDARD.has(block.type)) return undefined;
  const { type, data, base64 = data, url, fileId, file_id: snakeId, mimeType, mime_type: snakeType } = block;
  const metadata = toJsonRecord(block.metadata);
  const about: FileDescription = {
    kind: kindIn(type),
    mimeType: textIn(mimeType) ?? textIn(snakeType),
    name: ['filename', 'name', 'title'].map((key) => textIn(metadata[key])).find((name) => name !== undefined),
    ...detailIn(metadata),
  };
  const content = bytesText(base64) ?? textIn(url);
  if (content !== undefined) return givenFile(content, about);
  const id = textIn(fileId) ?? textIn(snakeId) ?? (block.source_type === 'id' ? textIn(block.id) : undefined);
  return id === undefined ? undefined : keptFile(undefined, id, about);
}

function kindIn(type: unknown): FileDescription['kind'] {
  return type === 'image' || type === 'audio' || type === 'video' ? type : undefined;
}

function detailIn({ detail }: Json): Pick<FileDescription, 'detail'> {
  return typeof detail === 'string' ? { detail } : {};
}

function bytesText(data: unknown): string | undefined {
  return data instanceof Uint8Array ? Buffer.from(data).toString('base64') : textIn(data);
}
