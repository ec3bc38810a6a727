import type { Part } from '../../sessions/domain/event.js';
import { type ConversationMessage, type ConversationPart, alternating } from './conversation.js';

/** A part of a message for Gemini. */
export interface GooglePart {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  functionCall?: { id?: string; name: string; args: Record<string, unknown> };
  functionResponse?: { id?: string; name: string; response: Record<string, unknown> };
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
    parts: parts.map(partOf),
  }));
  // A call must not stand first.
  const earlier: GoogleContent = { role: 'user', parts: [{ text: '(Earlier messages are left out.)' }] };
  return contents[0]?.role === 'model' ? [earlier, ...contents] : contents;
}

function partOf(part: ConversationPart): GooglePart {
  switch (part.type) {
    case 'text':
      return { text: part.text, ...signed(part) };
    case 'thought':
      return { text: part.text, thought: true, ...signed(part) };
    case 'call':
      return { functionCall: { ...idOf(part), name: part.name, args: { ...part.args } }, ...signed(part) };
    case 'result':
      return { functionResponse: { ...idOf(part), name: part.name, response: responseObject(part.response) } };
    case 'file':
    case 'code':
      // The union of its fields is wider than what the log may hold, which came from Gemini.
      return part.part as Part & GooglePart;
  }
}

function signed({ signature }: { readonly signature?: string }): { thoughtSignature?: string } {
  return signature === undefined ? {} : { thoughtSignature: signature };
}

/** Only ids of the API itself: it refuses those that ADK gives to calls without id. */
function idOf({ id, isIdGiven }: { readonly id: string; readonly isIdGiven: boolean }): { id?: string } {
  return isIdGiven && !id.startsWith('adk-') ? { id } : {};
}

function responseObject(response: unknown): Record<string, unknown> {
  const isObject = typeof response === 'object' && response !== null && !Array.isArray(response);
  return isObject ? (response as Record<string, unknown>) : { result: response };
}
