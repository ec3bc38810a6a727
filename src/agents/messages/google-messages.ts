import type { Part } from '../../sessions/domain/event/content.js';
import {
  type ConversationMessage,
  type ConversationPart,
  type ConversationResult,
  alternating,
} from './conversation.js';
import { inWords } from './file-content.js';
import { fileType, keeperOf } from './given-files.js';

/** A part of a message for Gemini. */
export interface GooglePart {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  functionCall?: { id?: string; name: string; args: Record<string, unknown> };
  functionResponse?: {
    id?: string;
    name: string;
    response: Record<string, unknown>;
    parts?: Pick<GooglePart, 'inlineData' | 'fileData'>[];
  };
  inlineData?: { mimeType?: string; data?: string };
  fileData?: { mimeType?: string; fileUri?: string };
}

/** A message of `generateContent` of Gemini. */
export interface GoogleContent {
  role: 'user' | 'model';
  parts: GooglePart[];
}

/** Contents for `generateContent`: parts as they are in the log, roles that alternate, and the user begins. */
export function googleContents(messages: readonly ConversationMessage[]): GoogleContent[] {
  const contents = alternating(messages).map(({ role, parts }): GoogleContent => ({
    role: role === 'model' ? 'model' : 'user',
    parts: parts.flatMap(toGoogleParts),
  }));
  // A call must not stand first.
  const earlier: GoogleContent = { role: 'user', parts: [{ text: '(Earlier messages are left out.)' }] };
  return contents[0]?.role === 'model' ? [earlier, ...contents] : contents;
}

function toGoogleParts(part: ConversationPart): GooglePart[] {
  switch (part.type) {
    case 'text':
      return [{ text: part.text, ...signed(part) }];
    case 'thought':
      return [{ text: part.text, thought: true, ...signed(part) }];
    case 'call':
      return [{ functionCall: { ...toGoogleIdField(part), name: part.name, args: { ...part.args } }, ...signed(part) }];
    case 'result':
      return resultParts(part);
    case 'file':
      return [filePart(part.part)];
    case 'code':
      // The union of its fields is wider than what the log may hold, which came from Gemini.
      return [part.part as Part & GooglePart];
  }
}

/** A response takes files; what else belongs to it follows. */
function resultParts({ parts = [], response, ...result }: ConversationResult): GooglePart[] {
  const given = parts.flatMap(toGoogleParts);
  const files = given.filter(isFile).map(({ inlineData, fileData }) => (inlineData ? { inlineData } : { fileData }));
  const functionResponse = {
    ...toGoogleIdField(result),
    name: result.name,
    response: responseObject(response),
    ...(files.length > 0 && { parts: files }),
  };
  return [{ functionResponse }, ...given.filter((part) => !isFile(part))];
}

function isFile({ inlineData, fileData }: GooglePart): boolean {
  return (inlineData ?? fileData) !== undefined;
}

/** Gemini refuses fields that it does not know, and reads no files that others keep. */
function filePart(part: Part): GooglePart {
  const keeper = keeperOf(part);
  if (keeper) return { text: inWords({ type: 'file', mimeType: fileType(part) ?? '', part }) };
  const { detail: _ofData, ...inlineData } = part.inlineData ?? {};
  const { detail: _ofFile, ...fileData } = part.fileData ?? {};
  return {
    ...part,
    ...(part.inlineData && { inlineData }),
    ...(part.fileData && { fileData: { mimeType: fileType(part), ...fileData } }),
  } as Part & GooglePart;
}

function signed({ signature }: { readonly signature?: string }): { thoughtSignature?: string } {
  return signature === undefined ? {} : { thoughtSignature: signature };
}

/** Only ids of the API itself: it refuses those that ADK gives to calls without id. */
function toGoogleIdField({ id, isIdGiven }: { readonly id: string; readonly isIdGiven: boolean }): { id?: string } {
  return isIdGiven && !id.startsWith('adk-') ? { id } : {};
}

function responseObject(response: unknown): Record<string, unknown> {
  const isObject = typeof response === 'object' && response !== null && !Array.isArray(response);
  return isObject ? (response as Record<string, unknown>) : { result: response };
}
