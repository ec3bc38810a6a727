import { fileIn, inWords, isByUser } from '../../adapter.js';
import type { EventLike, Part } from '../../index.js';
import { type Json, toJsonRecord, toTextOrEmpty } from '../shared/given-json.js';

/** A part as every reader of the session understands it, and what only A2A knows of it. Nothing is stored twice. */
export interface SplitPart {
  readonly said: Part;
  readonly rest: Json;
}

/** Splits a part of A2A. {@link joinedPart} is the reverse. */
export function splitPart(part: Json): SplitPart {
  const { text, raw, url, ...rest } = part;
  const [mimeType, displayName] = [toTextOrEmpty(part.mediaType), toTextOrEmpty(part.filename)];
  const about = { ...(mimeType !== '' && { mimeType }), ...(displayName !== '' && { displayName }) };
  if (typeof text === 'string') return { said: { text }, rest };
  if (typeof raw === 'string') return { said: { inlineData: { ...about, data: raw } }, rest };
  if (typeof url === 'string') return { said: { fileData: { ...about, fileUri: url } }, rest };
  return { said: { text: rest.data === undefined ? '' : JSON.stringify(rest.data) }, rest: { ...rest, isData: true } };
}

/** The part of A2A that was split. */
export function joinedPart(said: Part | undefined, stored: unknown): Json {
  const { isData, ...rest } = toJsonRecord(stored);
  return isData === true ? rest : { ...rest, ...saidOf(said) };
}

function saidOf({ text, inlineData, fileData }: Part = {}): Json {
  if (typeof text === 'string') return { text };
  if (inlineData) return { raw: inlineData.data ?? '' };
  return fileData ? { url: fileData.fileUri ?? '' } : {};
}

/** What somebody else said in the session, as a message of A2A. `undefined` if there is no text and no file. */
export function messageOfOthers(event: EventLike): Json | undefined {
  const isUser = isByUser(event);
  if (!isUser && event.content?.role !== 'model') return undefined;
  const parts = (event.content?.parts ?? []).filter(({ thought }) => thought !== true).flatMap(partOfOthers);
  if (parts.length === 0) return undefined;
  return { messageId: event.id ?? '', role: isUser ? 'ROLE_USER' : 'ROLE_AGENT', parts };
}

function partOfOthers(part: Part): Json[] {
  const { text, executableCode, codeExecutionResult } = part;
  if (text) return [{ text }];
  if (executableCode ?? codeExecutionResult) return [{ text: inWords({ type: 'code', part }) }];
  const file = fileIn(part);
  if (!file) return [];
  const { mimeType: mediaType, name: filename } = file;
  // Only its vendor can read it.
  if (file.keeper) return [{ text: inWords({ type: 'file', mimeType: mediaType, part }) }];
  return [{ ...saidOf(part), mediaType, ...(filename !== undefined && { filename }) }];
}
