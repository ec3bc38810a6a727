import type { ContentPart } from '@ag-ui/core';
import {
  type FileDescription,
  fileIn,
  type FileInPart,
  givenFile,
  inWords,
  isPlainObject,
  keptFile,
} from '../../adapter.js';
import { allFields, InvalidInputError, type Part } from '../../index.js';
import { type Json, textIn, toJsonRecord } from '../shared/given-json.js';

/** The field of a part with what only AG-UI knows of it. */
const FIELD = 'agUi';

/** A part of a message of AG-UI as a part of an event. */
export function toEventPart(given: unknown, path: string): Part {
  const part = toJsonRecord(given);
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
  const { filename, name = filename, detail } = toJsonRecord(metadata);
  const description: FileDescription = {
    ...(typeof mimeType === 'string' && { mimeType }),
    ...((type === 'image' || type === 'audio' || type === 'video') && { kind: type }),
    ...(typeof name === 'string' && { name }),
    ...(typeof detail === 'string' && { detail }),
  };
  if (form === 'file') return keptFile(textIn(provider), value, description);
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
  const { id, metadata } = toJsonRecord(known);
  const own = { ...(typeof id === 'string' && { id }), ...(isPlainObject(metadata) && { metadata }) };
  if (typeof text === 'string') return text === '' || thought === true ? [] : [{ type: 'text', text, ...own }];
  const file = fileIn(part);
  const source = file && sourceOf(file);
  if (source) return [{ type: toInputContentType(file.mimeType), source, ...toFileMetadata(file), ...own }];
  return executableCode || codeExecutionResult ? [{ type: 'text', text: inWords({ type: 'code', part }) }] : [];
}

function sourceOf({
  mimeType,
  data,
  uri,
  keeper,
}: FileInPart): Exclude<ContentPart, { readonly type: 'text' }>['source'] | undefined {
  if (keeper) {
    const provider = keeper.vendor !== 'file-id' && { provider: keeper.vendor };
    return { type: 'file', value: keeper.id, ...provider, mimeType };
  }
  if (data !== undefined) return { type: 'data', value: data, mimeType };
  return uri === undefined ? undefined : { type: 'url', value: uri, mimeType };
}

function toFileMetadata({ name, detail }: FileInPart): { readonly metadata?: Json } {
  const metadata = { ...(name !== undefined && { filename: name }), ...(detail !== undefined && { detail }) };
  return Object.keys(metadata).length > 0 ? { metadata } : {};
}

function toInputContentType(mimeType: string): 'image' | 'audio' | 'video' | 'document' {
  const [kind] = mimeType.split('/');
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
}
