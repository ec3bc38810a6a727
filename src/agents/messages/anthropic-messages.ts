import {
  type ConversationMessage,
  type ConversationPart,
  type ConversationResult,
  alternating,
} from './conversation.js';
import { fileContent, fileName, inWords } from './file-content.js';
import { keeperOf } from './given-files.js';
import { jsonText } from './said-parts.js';

const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const;
type ImageType = (typeof IMAGE_TYPES)[number];
const PDF = 'application/pdf';

type AnthropicFileSource = { type: 'url'; url: string } | { type: 'file'; file_id: string };

/** A block of a message for Anthropic. */
export type AnthropicBlock =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'image'; source: { type: 'base64'; media_type: ImageType; data: string } | AnthropicFileSource }
  | {
      type: 'document';
      source:
        | { type: 'base64'; media_type: 'application/pdf'; data: string }
        | { type: 'text'; media_type: 'text/plain'; data: string }
        | AnthropicFileSource;
      title?: string;
    }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> }
  | { type: 'tool_result'; tool_use_id: string; content: string | AnthropicResultBlock[]; is_error?: boolean };

/** A block of the result of a tool. */
export type AnthropicResultBlock = Extract<AnthropicBlock, { type: 'text' | 'image' | 'document' }>;

/** A message of the Messages API of Anthropic. */
export interface AnthropicMessage {
  role: 'user' | 'assistant';
  content: AnthropicBlock[];
}

/** Stands for what a conversation that begins with the model does not have: the API demands that the user begins. */
const EARLIER: AnthropicBlock = { type: 'text', text: '(Earlier messages are left out.)' };

/** Messages for the Messages API: roles alternate, the user begins, and results stand before all else. */
export function anthropicMessages(messages: readonly ConversationMessage[]): AnthropicMessage[] {
  const said = withTakenIds(messages).map(({ role, parts }) => ({
    role,
    parts: parts.filter((part) => toAnthropicBlocks(role, part).length > 0),
  }));
  const result = alternating(said.filter(({ parts }) => parts.length > 0)).map(({ role, parts }): AnthropicMessage => ({
    role: role === 'model' ? 'assistant' : 'user',
    content: parts.flatMap((part) => toAnthropicBlocks(role, part)),
  }));
  return result[0]?.role === 'assistant' ? [{ role: 'user', content: [EARLIER] }, ...result] : result;
}

const TAKEN_ID = /^[\w-]+$/;

/** The API refuses ids with other characters, such as `functions.search:0` of other models. */
function withTakenIds(messages: readonly ConversationMessage[]): readonly ConversationMessage[] {
  const given = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'call' ? [part.id] : [])));
  const renamed = new Map<string, string>();
  const known = new Set(given);
  for (const id of given.filter((each) => !TAKEN_ID.test(each))) {
    const name = id.replaceAll(/[^\w-]/g, '_');
    let free = name;
    for (let number = 2; known.has(free); number++) free = `${name}-${number}`;
    known.add(free);
    renamed.set(id, free);
  }
  if (renamed.size === 0) return messages;
  const rename = (part: ConversationPart): ConversationPart =>
    part.type === 'call' || part.type === 'result' ? { ...part, id: renamed.get(part.id) ?? part.id } : part;
  return messages.map((message) => ({ ...message, parts: message.parts.map(rename) }));
}

function toAnthropicBlocks(role: ConversationMessage['role'], part: ConversationPart): AnthropicBlock[] {
  switch (part.type) {
    case 'text':
      // The API refuses blank blocks.
      return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
    case 'thought':
      return [{ type: 'thinking', thinking: part.text, signature: part.signature }];
    case 'call':
      return [{ type: 'tool_use', id: part.id, name: part.name, input: { ...part.args } }];
    case 'result':
      return [
        {
          type: 'tool_result',
          tool_use_id: part.id,
          content: resultContent(part),
          ...(part.isError && { is_error: true }),
        },
      ];
    case 'file':
      return [(role === 'user' && fileBlock(part)) || { type: 'text', text: inWords(part) }];
    case 'code':
      return [{ type: 'text', text: inWords(part) }];
  }
}

/** The API takes files in results, except in those that failed. */
function resultContent({ response, parts, isError }: ConversationResult): string | AnthropicResultBlock[] {
  const text = jsonText(response);
  if (!parts) return text;
  const blocks = parts.flatMap((part) => toAnthropicBlocks(isError ? 'model' : 'user', part)).filter(isResultBlock);
  return [{ type: 'text', text }, ...blocks];
}

function isResultBlock(block: AnthropicBlock): block is AnthropicResultBlock {
  return block.type === 'text' || block.type === 'image' || block.type === 'document';
}

function fileBlock({ mimeType, part }: ConversationPart & { type: 'file' }): AnthropicBlock | undefined {
  const imageType = IMAGE_TYPES.find((type) => type === mimeType);
  const keeper = keeperOf(part);
  if (keeper) {
    if (keeper.vendor !== 'anthropic') return undefined;
    return { type: mimeType.startsWith('image/') ? 'image' : 'document', source: { type: 'file', file_id: keeper.id } };
  }
  const content = fileContent(part);
  if (!content) return undefined;
  const { data, uri } = content;
  if (imageType) {
    const source = data === undefined ? urlSource(uri) : { type: 'base64' as const, media_type: imageType, data };
    return { type: 'image', source };
  }
  const name = fileName(part);
  const title = name !== undefined && { title: name };
  if (mimeType === PDF) {
    const source = data === undefined ? urlSource(uri) : ({ type: 'base64', media_type: PDF, data } as const);
    return { type: 'document', source, ...title };
  }
  if (data === undefined || !mimeType.startsWith('text/')) return undefined;
  const text = textOfBase64(data);
  return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, ...title };
}

/** With what browsers have, too. As Node does, it takes both alphabets, passes over what is in neither, and ends at the padding. */
function textOfBase64(data: string): string {
  const [given = ''] = data.split('=', 1);
  const digits = given
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replaceAll(/[^A-Za-z\d+/]/g, '');
  // One digit alone is less than a byte.
  const whole = digits.length % 4 === 1 ? digits.slice(0, -1) : digits;
  const bytes = Uint8Array.from(atob(whole), (character) => character.charCodeAt(0));
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

function urlSource(url: string): AnthropicFileSource {
  return { type: 'url', url };
}
