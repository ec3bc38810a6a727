import type { AgentInputItem } from '@openai/agents-core';
import { fileIn, inWords, isByUser, readMessage, type UnpairedMessage, type UnpairedPart } from '../../adapter.js';
import type { ConversationPart } from '../../agents/index.js';
import type { LoggedEvent } from '../../index.js';
import { saidText } from '../shared/said-text.js';
import { isPlainMessage, readItemRecord, revivedItem } from './item-records.js';

type UserContent = Exclude<Extract<AgentInputItem, { role: 'user' }>['content'], string>;

/** Reads events as items, oldest first. Calls without id get one, and so do the responses to them. */
export class EventReader {
  readonly #madeUp = new Map<string, string[]>();

  /**
   * The items of an event. Those that this adapter wrote come back as they were. Of events of users, which clients can write,
   * only text and files count.
   */
  itemsOf(event: LoggedEvent): AgentInputItem[] {
    const record = readItemRecord(event);
    const isTrusted = isByUser(event) ? isPlainMessage(record) : record.isOfPrevious === undefined;
    const own = isTrusted ? revivedItem(record, event.content?.parts ?? []) : undefined;
    return own ? [own as AgentInputItem] : this.#itemsSaid(event, readMessage(event));
  }

  #itemsSaid(event: LoggedEvent, { role, parts }: UnpairedMessage): AgentInputItem[] {
    const items: AgentInputItem[] = [];
    let said: ConversationPart[] = [];
    const flush = (): void => {
      const message = role === 'user' ? userMessage(said) : assistantMessage(said);
      said = [];
      if (message) items.push(message);
    };
    for (const [index, part] of parts.entries()) {
      const item = this.#toolItem(event, part, index);
      if (!item) {
        if (part.type !== 'called' && part.type !== 'answered') said.push(part);
        continue;
      }
      flush();
      items.push(item);
    }
    flush();
    return items;
  }

  #toolItem(event: LoggedEvent, part: UnpairedPart, index: number): AgentInputItem | undefined {
    if (part.type === 'called') {
      const { id, name = 'unknown', args = {} } = part.call;
      const callId = id || this.#newId(name, `call_${event.seq}_${index}`);
      return { type: 'function_call', callId, name, arguments: JSON.stringify(args), status: 'completed' };
    }
    if (part.type !== 'answered') return undefined;
    const { id, name = 'unknown', response } = part.response;
    const callId = id || (this.#madeUp.get(name)?.shift() ?? `call_${event.seq}_${index}`);
    const text = typeof response === 'string' ? response : JSON.stringify(response ?? {});
    const output = { type: 'text' as const, text };
    return { type: 'function_call_result', callId, name, status: 'completed', output };
  }

  #newId(name: string, id: string): string {
    this.#madeUp.set(name, [...(this.#madeUp.get(name) ?? []), id]);
    return id;
  }
}

function userMessage(parts: readonly ConversationPart[]): AgentInputItem | undefined {
  const content = parts.flatMap(userEntry);
  const [first] = content;
  if (!first) return undefined;
  const isText = content.length === 1 && first.type === 'input_text';
  return { type: 'message', role: 'user', content: isText ? first.text : content };
}

function userEntry(part: ConversationPart): UserContent {
  if (part.type === 'text') return part.text === '' ? [] : [{ type: 'input_text', text: part.text }];
  if (part.type === 'code') return [{ type: 'input_text', text: inWords(part) }];
  if (part.type !== 'file') return [];
  const file = fileIn(part.part);
  if (!file || file.url === undefined || (file.keeper && file.keeper.vendor !== 'openai'))
    return [{ type: 'input_text', text: inWords(part) }];
  const { mimeType, url, data, name: filename, detail, keeper } = file;
  const kept = keeper && { id: keeper.id };
  if (mimeType.startsWith('image/')) {
    return [{ type: 'input_image', image: kept ?? url, ...(detail !== undefined && { detail }) }];
  }
  if (kept) return [{ type: 'input_file', file: kept, ...(filename !== undefined && { filename }) }];
  if (data === undefined) return [{ type: 'input_file', file: { url } }];
  const [kind, format] = mimeType.split('/');
  if (kind === 'audio') return [{ type: 'audio', audio: data, ...(format && { format }) }];
  return [{ type: 'input_file', file: url, filename: filename ?? 'file' }];
}

/** Models of OpenAI take files only from users. A thought belongs to the model that has it. */
function assistantMessage(parts: readonly ConversationPart[]): AgentInputItem | undefined {
  const texts = parts.flatMap(saidText);
  if (texts.length === 0) return undefined;
  const content = texts.map((text) => ({ type: 'output_text' as const, text }));
  return { type: 'message', role: 'assistant', status: 'completed', content };
}
