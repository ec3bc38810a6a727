import type { Part } from '../../sessions/domain/event/content.js';
import type { ConversationPart } from './conversation.js';
import { fileType, keeperOf } from './given-files.js';

type FileOrCode = Extract<ConversationPart, { readonly type: 'file' | 'code' }>;

/** Where the content of a file is: in the part, or at a URI. */
export type FileContent =
  { readonly data: string; readonly uri?: never } | { readonly uri: string; readonly data?: never };

/** The content of a file, if the part has any. */
export function fileContent({ inlineData, fileData }: Part): FileContent | undefined {
  if (typeof inlineData?.data === 'string') return { data: inlineData.data };
  return typeof fileData?.fileUri === 'string' ? { uri: fileData.fileUri } : undefined;
}

/** The name of a file, if it has one. */
export function fileName({ inlineData, fileData }: Part): string | undefined {
  const name = inlineData?.displayName ?? fileData?.displayName;
  return typeof name === 'string' ? name : undefined;
}

/** How closely models should look at an image, in the words of OpenAI, if the user said it. */
export function imageDetail({ inlineData, fileData }: Part): string | undefined {
  const detail = (inlineData ?? fileData)?.detail;
  return typeof detail === 'string' ? detail : undefined;
}

/** A URL that has the content, or is its place. */
export function fileUrl(mimeType: string, content: FileContent): string {
  return content.data === undefined ? content.uri : `data:${mimeType};base64,${content.data}`;
}

/** The file of a part, for frameworks that describe it in their own words. */
export interface FileInPart {
  readonly mimeType: string;
  /** Its content as base64; missing if only its place is known. */
  readonly data?: string | undefined;
  /** Its place, if its content is not here. */
  readonly uri?: string | undefined;
  /** A URL that has the content, or is its place. */
  readonly url?: string | undefined;
  readonly name?: string | undefined;
  /** How closely models should look at an image, in the words of OpenAI. */
  readonly detail?: string | undefined;
  /** The vendor that keeps the file, and the id that it gave it. Nobody else can read it. */
  readonly keeper?: { readonly vendor: string; readonly id: string } | undefined;
}

/**
 * The file of a part, if it has one: the reverse of `givenFile` and `keptFile`.
 *
 * @example
 * const file = fileIn(part);
 * if (file?.data !== undefined) blocks.push({ image: { format: file.mimeType, bytes: file.data } });
 */
export function fileIn(part: Part): FileInPart | undefined {
  const mimeType = fileType(part);
  if (mimeType === undefined) return undefined;
  const content = fileContent(part);
  const url = content && fileUrl(mimeType, content);
  return { mimeType, ...content, url, name: fileName(part), detail: imageDetail(part), keeper: keeperOf(part) };
}

/**
 * A file or code in words, for messages and vendors that take no such part.
 *
 * @example if (part.type === 'code') blocks.push({ text: inWords(part) });
 */
export function inWords(part: FileOrCode): string {
  if (part.type === 'file') return `[a file of type ${part.mimeType}]`;
  const { executableCode, codeExecutionResult } = part.part;
  if (executableCode)
    return `\`\`\`${(executableCode.language ?? '').toLowerCase()}\n${executableCode.code ?? ''}\n\`\`\``;
  return `Output of the code:\n\`\`\`\n${codeExecutionResult?.output ?? ''}\n\`\`\``;
}

/** What a part says, for messages that have texts only. */
export function saidText(part: ConversationPart): string[] {
  if (part.type === 'text') return part.text === '' ? [] : [part.text];
  return part.type === 'file' || part.type === 'code' ? [inWords(part)] : [];
}
