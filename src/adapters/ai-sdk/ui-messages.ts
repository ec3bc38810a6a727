import type { DynamicToolUIPart, ToolUIPart, UIMessage } from 'ai';
import { invocationOfMessage } from '../../agents/index.js';
import { defined, isByUser, isPlainObject, isSummary, RESERVED } from '../../adapter.js';
import type { LoggedEvent } from '../../index.js';
import { type CallItem, type EventItem, type ReadingOptions, readEventItems } from './event-items.js';
import { mergedMetadata } from './merged-metadata.js';
import { type UIPart, sdkFieldsOf } from './sdk-fields.js';
import { isToolPart, toolNameOf } from './step-events.js';

/** A message of a page, and where it is in the log. */
export interface ChatEntry {
  readonly message: UIMessage;
  /** The events that say it, without answers of the user. */
  readonly events: LoggedEvent[];
  /** Other events that answer its calls. */
  readonly answers: LoggedEvent[];
}

/** The id of the message that an invocation answers with. */
export function formatAnswerMessageId(invocationId: string): string {
  return RESERVED.ids.answer + invocationId;
}

/** The id that a page knows a message of the user by. */
function userMessageId(event: LoggedEvent): string {
  return sdkFieldsOf(event)?.message ?? invocationOfMessage(event) ?? event.id;
}

/** The messages of a page, whoever wrote the events. Events of one answer are one message. */
export function toChatEntries(events: readonly LoggedEvent[], options: ReadingOptions): ChatEntry[] {
  const reader = new ConversationReader(options);
  for (const event of events) reader.add(event);
  return reader.entries.filter(({ message }) => message.parts.some(({ type }) => type !== 'step-start'));
}

class ConversationReader {
  readonly entries: ChatEntry[] = [];
  readonly #byId = new Map<string, ChatEntry>();
  /** The calls that wait for the user's side. */
  readonly #waiting = new Set<string>();
  readonly #tools: { readonly part: ToolUIPart | DynamicToolUIPart; readonly entry: ChatEntry }[] = [];

  constructor(private readonly options: ReadingOptions) {}

  add(event: LoggedEvent): void {
    const items = readEventItems(event, this.options);
    if (items.length === 0) return;
    const isOfUser = isByUser(event) || isSummary(event);
    const said = items.filter(({ type }) => type !== 'answered' && type !== 'result' && type !== 'asked');
    const isMessage = said.some(({ type }) => type !== 'metadata');
    const entry = isMessage || !isOfUser ? this.#entryOf(event, isOfUser) : undefined;
    entry?.events.push(event);
    for (const item of items) this.#apply(item, event, entry);
  }

  #entryOf(event: LoggedEvent, isOfUser: boolean): ChatEntry {
    if (isOfUser) return this.#added(userMessageId(event), 'user', event);
    if (event.content?.role === 'system') return this.#added(event.id, 'system', event);
    const named = sdkFieldsOf(event)?.message;
    const id = named ?? (event.invocationId === '' ? undefined : formatAnswerMessageId(event.invocationId));
    const known = id === undefined ? undefined : this.#byId.get(id);
    const last = this.entries.at(-1);
    const isSame = known !== undefined && (named !== undefined || known === last);
    if (isSame && known.message.role === 'assistant') return known;
    const follows = last?.message.role === 'assistant' && last.events.at(-1)?.invocationId === event.invocationId;
    return follows && named === undefined ? last : this.#added(id ?? event.id, 'assistant', event);
  }

  #added(id: string, role: UIMessage['role'], { seq }: LoggedEvent): ChatEntry {
    const unique = this.#byId.has(id) ? `${id}~${seq}` : id;
    const entry: ChatEntry = { message: { id: unique, role, parts: [] }, events: [], answers: [] };
    this.#byId.set(unique, entry);
    this.entries.push(entry);
    return entry;
  }

  #apply(item: EventItem, event: LoggedEvent, entry: ChatEntry | undefined): void {
    const message = entry?.message;
    switch (item.type) {
      case 'step':
        message?.parts.push({ type: 'step-start' });
        break;
      case 'part':
        if (message) addPart(message, item.part);
        break;
      case 'call': {
        const part = callPart(item);
        entry?.message.parts.push(part);
        if (entry) this.#tools.push({ part, entry });
        if (item.waits) this.#waiting.add(item.toolCallId);
        break;
      }
      case 'asked':
        this.#update(item.toolCallId, event, () => ({
          state: 'approval-requested',
          approval: { id: item.approvalId, ...item.details },
        }));
        break;
      case 'answered':
        this.#answer(item, event);
        break;
      case 'result':
        this.#conclude(item, event);
        break;
      case 'metadata':
        if (message) message.metadata = mergedMetadata(message.metadata, item.metadata);
        break;
    }
  }

  #answer({ approvalId, approved, reason }: EventItem & { type: 'answered' }, event: LoggedEvent): void {
    const asked = this.#tools.findLast(
      ({ part }) => part.state === 'approval-requested' && part.approval.id === approvalId,
    );
    if (!asked) return;
    const approval = { ...asked.part.approval, approved, ...defined({ reason }) };
    Object.assign(asked.part, { state: 'approval-responded', approval });
    noteAnswer(asked.entry, event);
  }

  #conclude({ outcome, isByUser: isOfUser }: EventItem & { type: 'result' }, event: LoggedEvent): void {
    const { toolCallId, toolName, result } = outcome;
    const id =
      toolCallId ?? this.#tools.find(({ part }) => isOpen(part) && toolNameOf(part) === toolName)?.part.toolCallId;
    // A client answers only what waits for it, once.
    if (id === undefined || (isOfUser && !this.#waiting.has(id))) return;
    this.#update(id, event, (part) => {
      if (isOfUser && part.state !== 'input-available') return undefined;
      const details = defined({ resultProviderMetadata: outcome.providerMetadata, toolMetadata: outcome.toolMetadata });
      if (result.type === 'output') return { ...details, state: 'output-available', output: result.output };
      if (result.type === 'error') return { ...details, state: 'output-error', errorText: result.errorText };
      const approval = isPlainObject(part.approval) ? part.approval : { id: `denied:${id}` };
      return { ...details, state: 'output-denied', approval: { ...approval, approved: false } };
    });
  }

  /** The last call with this id: some models count calls again. */
  #update(
    toolCallId: string,
    event: LoggedEvent,
    changes: (part: ToolUIPart | DynamicToolUIPart) => object | undefined,
  ): void {
    const tool = this.#tools.findLast(({ part }) => part.toolCallId === toolCallId);
    const changed = tool && changes(tool.part);
    if (!changed) return;
    const { part, entry } = tool;
    noteAnswer(entry, event);
    const { output: _output, errorText: _errorText, ...kept } = part as Record<string, unknown>;
    for (const name of Object.keys(part)) Reflect.deleteProperty(part, name);
    Object.assign(part, kept, changed);
  }
}

function noteAnswer({ events, answers }: ChatEntry, event: LoggedEvent): void {
  if (events.at(-1) !== event && answers.at(-1) !== event) answers.push(event);
}

function isOpen(part: ToolUIPart | DynamicToolUIPart): boolean {
  return !part.state.startsWith('output-');
}

function callPart(item: CallItem): ToolUIPart | DynamicToolUIPart {
  const { toolCallId, toolName, input, dynamic, title, toolMetadata, providerExecuted, providerMetadata } = item;
  const kind = dynamic ? { type: 'dynamic-tool', toolName } : { type: `tool-${toolName}` };
  const details = defined({ title, toolMetadata, providerExecuted, callProviderMetadata: providerMetadata });
  return { ...kind, toolCallId, state: 'input-available', input, ...details } as ToolUIPart | DynamicToolUIPart;
}

/** Data with an id replaces what was there. */
function addPart(message: UIMessage, part: UIPart): void {
  const isSpoken = (part.type === 'text' || part.type === 'reasoning') && message.role === 'assistant';
  const place =
    'data' in part && part.id !== undefined ? message.parts.findIndex((each) => isSameData(each, part)) : -1;
  if (place >= 0) message.parts[place] = part;
  else message.parts.push(isSpoken ? { ...part, state: 'done' } : part);
}

function isSameData(one: UIPart, other: UIPart): boolean {
  return !isToolPart(one) && one.type === other.type && 'data' in one && 'data' in other && one.id === other.id;
}
