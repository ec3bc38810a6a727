import type { ConversationMessage, ConversationPart } from './conversation.js';
import { fileContent, fileName, fileUrl, imageDetail, inWords, saidText } from './file-content.js';
import { keeperOf } from './given-files.js';
import { jsonText } from './said-parts.js';

/** A part of a user's message for OpenAI. */
export type OpenAiPart =
  | { type: 'text'; text: string }
  | { type: 'image_url'; image_url: { url: string; detail?: 'auto' | 'low' | 'high' } }
  | { type: 'input_audio'; input_audio: { data: string; format: 'wav' | 'mp3' } }
  | { type: 'file'; file: { file_data: string; filename: string } | { file_id: string } };

/** A message of `chat/completions`, of OpenAI and of all who copied it. */
export type OpenAiMessage =
  | { role: 'user'; content: string | OpenAiPart[] }
  | {
      role: 'assistant';
      content?: string;
      tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
    }
  | { role: 'tool'; tool_call_id: string; content: string };

/** Messages for `chat/completions`. It takes no thoughts, and files only in messages of the user. */
export function openAiMessages(messages: readonly ConversationMessage[]): OpenAiMessage[] {
  return messages.flatMap(({ role, parts }): OpenAiMessage[] => {
    if (role === 'user') return userMessage(parts);
    return role === 'tool' ? [...parts.flatMap(toolMessage), ...filesMessage(parts)] : assistantMessage(parts);
  });
}

/** Results take text only, and stand together. So their files follow, in a message of the user that says whose they are. */
function filesMessage(parts: readonly ConversationPart[]): OpenAiMessage[] {
  return userMessage(
    parts.flatMap((part): ConversationPart[] => {
      if (part.type !== 'result' || !part.parts) return [];
      return [{ type: 'text', text: `Result of the tool ${part.name} (${part.id}):` }, ...part.parts];
    }),
  );
}

function userMessage(parts: readonly ConversationPart[]): OpenAiMessage[] {
  const content = parts.flatMap(userPart);
  const [first] = content;
  if (!first) return [];
  return [{ role: 'user', content: content.length === 1 && first.type === 'text' ? first.text : content }];
}

const DETAILS = ['auto', 'low', 'high'] as const;

const AUDIO_FORMATS: Readonly<Record<string, 'wav' | 'mp3'>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
};

function userPart(part: ConversationPart): OpenAiPart[] {
  if (part.type !== 'file') return saidText(part).map((text) => ({ type: 'text', text }));
  const { mimeType } = part;
  const keeper = keeperOf(part.part);
  if (keeper?.vendor === 'openai') return [{ type: 'file', file: { file_id: keeper.id } }];
  const content = keeper ? undefined : fileContent(part.part);
  if (content && mimeType.startsWith('image/')) {
    const detail = DETAILS.find((each) => each === imageDetail(part.part));
    return [{ type: 'image_url', image_url: { url: fileUrl(mimeType, content), ...(detail && { detail }) } }];
  }
  if (content?.data === undefined) return [{ type: 'text', text: inWords(part) }];
  const format = AUDIO_FORMATS[mimeType];
  if (format) return [{ type: 'input_audio', input_audio: { data: content.data, format } }];
  const filename = fileName(part.part) ?? 'file';
  return [{ type: 'file', file: { file_data: fileUrl(mimeType, content), filename } }];
}

function assistantMessage(parts: readonly ConversationPart[]): OpenAiMessage[] {
  const content = parts.flatMap(saidText).join('\n');
  const calls = parts.flatMap((part) => {
    if (part.type !== 'call') return [];
    return [
      { id: part.id, type: 'function' as const, function: { name: part.name, arguments: JSON.stringify(part.args) } },
    ];
  });
  if (content === '' && calls.length === 0) return [];
  return [{ role: 'assistant', ...(content !== '' && { content }), ...(calls.length > 0 && { tool_calls: calls }) }];
}

function toolMessage(part: ConversationPart): OpenAiMessage[] {
  if (part.type !== 'result') return [];
  return [{ role: 'tool', tool_call_id: part.id, content: jsonText(part.response) }];
}
