import type {
  ConversationMessage,
  ConversationPart,
  ConversationResult,
  ConversationResultPart,
} from './conversation.js';
import { fileContent, fileName, imageDetail as imageDetailOf, inWords } from './file-content.js';
import { keeperOf } from './given-files.js';
import { jsonText } from './said-parts.js';

type JsonValue = null | string | number | boolean | JsonValue[] | { [key: string]: JsonValue };

/** The signature of a thought, under the names of all providers that need it; each reads its own. */
interface AiSdkSignature {
  providerOptions?: { anthropic: { signature: string }; google: { thoughtSignature: string } };
}

/** Parts of messages of the AI SDK. */
type AiSdkTextPart = { type: 'text'; text: string } & AiSdkSignature;
type AiSdkFilePart = {
  type: 'file';
  data: string;
  mediaType: string;
  filename?: string;
  providerOptions?: { openai: { imageDetail: string } };
};
type AiSdkReasoningPart = { type: 'reasoning'; text: string } & AiSdkSignature;
type AiSdkToolCallPart = {
  type: 'tool-call';
  toolCallId: string;
  toolName: string;
  input: Record<string, unknown>;
} & AiSdkSignature;
interface AiSdkToolResultPart {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  output:
    | { type: 'text' | 'error-text'; value: string }
    | { type: 'json' | 'error-json'; value: JsonValue }
    | { type: 'content'; value: AiSdkResultContent[] };
}
type AiSdkResultContent =
  | { type: 'text'; text: string }
  | { type: 'image-data'; data: string; mediaType: string }
  | { type: 'image-url' | 'file-url'; url: string }
  | { type: 'file-data'; data: string; mediaType: string; filename?: string };

/** A `ModelMessage` of the AI SDK. */
export type AiSdkMessage =
  | { role: 'user'; content: (AiSdkTextPart | AiSdkFilePart)[] }
  | { role: 'assistant'; content: (AiSdkTextPart | AiSdkFilePart | AiSdkReasoningPart | AiSdkToolCallPart)[] }
  | { role: 'tool'; content: AiSdkToolResultPart[] };

/** Messages for `generateText` and `streamText` of the AI SDK. */
export function aiSdkMessages(messages: readonly ConversationMessage[]): AiSdkMessage[] {
  const converted = messages.map(({ role, parts }): AiSdkMessage => {
    if (role === 'tool') return { role, content: parts.flatMap(resultPart) };
    if (role === 'user') return { role, content: parts.flatMap(saidPart) };
    return { role: 'assistant', content: parts.flatMap((part) => [...modelPart(part), ...saidPart(part)]) };
  });
  return converted.filter(({ content }) => content.length > 0);
}

function saidPart(part: ConversationPart): (AiSdkTextPart | AiSdkFilePart)[] {
  if (part.type === 'text') return part.text === '' ? [] : [{ type: 'text', text: part.text, ...signed(part) }];
  if (part.type === 'code') return [{ type: 'text', text: inWords(part) }];
  if (part.type !== 'file') return [];
  const content = keeperOf(part.part) ? undefined : fileContent(part.part);
  if (!content) return [{ type: 'text', text: inWords(part) }];
  const filename = fileName(part.part);
  const data = content.data ?? content.uri;
  const imageDetail = imageDetailOf(part.part);
  const providerOptions = imageDetail !== undefined && { providerOptions: { openai: { imageDetail } } };
  return [
    { type: 'file', data, mediaType: part.mimeType, ...(filename !== undefined && { filename }), ...providerOptions },
  ];
}

function modelPart(part: ConversationPart): (AiSdkReasoningPart | AiSdkToolCallPart)[] {
  if (part.type === 'thought') return [{ type: 'reasoning', text: part.text, ...signed(part) }];
  if (part.type !== 'call') return [];
  return [{ type: 'tool-call', toolCallId: part.id, toolName: part.name, input: { ...part.args }, ...signed(part) }];
}

function resultPart(part: ConversationPart): AiSdkToolResultPart[] {
  if (part.type !== 'result') return [];
  const { id: toolCallId, name: toolName } = part;
  return [{ type: 'tool-result', toolCallId, toolName, output: toToolOutput(part) }];
}

function toToolOutput({ response, parts, isError }: ConversationResult): AiSdkToolResultPart['output'] {
  if (parts)
    return { type: 'content', value: [{ type: 'text', text: jsonText(response) }, ...parts.map(resultContent)] };
  if (typeof response === 'string') return { type: 'text', value: response };
  return { type: isError ? 'error-json' : 'json', value: response as JsonValue };
}

function resultContent(part: ConversationResultPart): AiSdkResultContent {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const content = part.type === 'code' || keeperOf(part.part) ? undefined : fileContent(part.part);
  if (part.type === 'code' || !content) return { type: 'text', text: inWords(part) };
  const { mimeType: mediaType } = part;
  const isImage = mediaType.startsWith('image/');
  if (content.data === undefined) return { type: isImage ? 'image-url' : 'file-url', url: content.uri };
  if (isImage) return { type: 'image-data', data: content.data, mediaType };
  const filename = fileName(part.part);
  return { type: 'file-data', data: content.data, mediaType, ...(filename !== undefined && { filename }) };
}

function signed({ signature }: { readonly signature?: string }): AiSdkSignature {
  if (signature === undefined) return {};
  return { providerOptions: { anthropic: { signature }, google: { thoughtSignature: signature } } };
}
