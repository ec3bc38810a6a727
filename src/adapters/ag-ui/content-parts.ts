import type { ContentPart } from '@ag-ui/core';
import { fileContent, fileName, imageDetail, inWords } from '../../agents/messages/file-content.js';
import { type FileDescription, fileType, givenFile, keeperOf, keptFile } from '../../agents/messages/given-files.js';
import { InvalidInputError } from '../../sessions/domain/errors.js';
import type { Part } from '../../sessions/domain/content.js';
import { allFields } from '../../sessions/domain/event-inspection.js';
import { isPlainObject } from '../../sessions/domain/json-value.js';

type Json = Readonly<Record<string, unknown>>;

/** The field of a part with what only AG-UI knows of it. */
const FIELD = 'agUi';

/** A part of a message of AG-UI as a part of an event. */
export function partOf(given: unknown, path: string): Part {
  const part: Json = isPlainObject(given) ? given : {};
  const { type, text, id, metadata, source } = part;
  // Before 1.0, the id of a part was that of its file.
  const isNamed = typeof id === 'string' && type !== 'binary';
  const own = { ...(isNamed && { id }), ...(isPlainObject(metadata) && { metadata }) };
  const kept = Object.keys(own).length > 0 && { [FIELD]: own };
  if (type === 'text' && typeof text === 'string') return { text, ...kept };
  const file =
    type === 'binary' ? binaryPart(part) : type !== 'text' && isPlainObject(source) && filePart(part, source);
  if (!file) throw new InvalidInputError('must be a text, or have a source with a value', path);
  return { ...file, ...kept };
}

function filePart({ type, metadata }: Json, { type: form, value, mimeType, provider }: Json): Part | undefined {
  if (typeof value !== 'string') return undefined;
  const { filename, name = filename, detail }: Json = isPlainObject(metadata) ? metadata : {};
  const description: FileDescription = {
    ...(typeof mimeType === 'string' && { mimeType }),
    ...((type === 'image' || type === 'audio' || type === 'video') && { kind: type }),
    ...(typeof name === 'string' && { name }),
    ...(typeof detail === 'string' && { detail }),
  };
  if (form === 'file') return keptFile(typeof provider === 'string' ? provider : undefined, value, description);
  return givenFile(value, description);
}

/** A file as clients before AG-UI 1.0 send it. */
function binaryPart({ data, url, id, mimeType, filename }: Json): Part | undefined {
  const description: FileDescription = {
    ...(typeof mimeType === 'string' && { mimeType }),
    ...(typeof filename === 'string' && { name: filename }),
  };
  const content = typeof data === 'string' ? data : url;
  if (typeof content === 'string') return givenFile(content, description);
  return typeof id === 'string' ? keptFile(undefined, id, description) : undefined;
}

/** A part of an event as a part of a message of AG-UI. */
export function contentPartOf(part: Part): ContentPart[] {
  const { text, thought, executableCode, codeExecutionResult } = part;
  const known = allFields(part)[FIELD];
  const { id, metadata }: Json = isPlainObject(known) ? known : {};
  const own = { ...(typeof id === 'string' && { id }), ...(isPlainObject(metadata) && { metadata }) };
  if (typeof text === 'string') return text === '' || thought === true ? [] : [{ type: 'text', text, ...own }];
  const source = sourceOf(part);
  if (source) return [{ type: kindOf(fileType(part)), source, ...metadataOf(part), ...own }];
  return executableCode || codeExecutionResult ? [{ type: 'text', text: inWords({ type: 'code', part }) }] : [];
}

function sourceOf(part: Part): Exclude<ContentPart, { readonly type: 'text' }>['source'] | undefined {
  const mimeType = fileType(part);
  const keeper = keeperOf(part);
  const type = mimeType !== undefined && { mimeType };
  if (keeper)
    return { type: 'file', value: keeper.id, ...(keeper.vendor !== 'file-id' && { provider: keeper.vendor }), ...type };
  const content = fileContent(part);
  if (!content) return undefined;
  if (content.data === undefined) return { type: 'url', value: content.uri, ...type };
  return { type: 'data', value: content.data, mimeType: mimeType ?? '' };
}

function metadataOf(part: Part): { readonly metadata?: Json } {
  const [filename, detail] = [fileName(part), imageDetail(part)];
  const metadata = { ...(filename !== undefined && { filename }), ...(detail !== undefined && { detail }) };
  return Object.keys(metadata).length > 0 ? { metadata } : {};
}

function kindOf(mimeType = ''): 'image' | 'audio' | 'video' | 'document' {
  const [kind] = mimeType.split('/');
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
}
