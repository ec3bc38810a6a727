import type { UIMessageChunk } from 'ai';
import { defined, isByUser, readTexts } from '../../adapter.js';
import type { EventInput, LoggedEvent } from '../../index.js';
import { type CallItem, type EventItem, type ReadingOptions, readEventItems } from './event-items.js';
import type { UIPart } from './sdk-fields.js';

type Kind = 'text' | 'reasoning';

/**
 * An answer, event by event, as the chunks of a page: each character once. Partial events come before the event that holds all
 * of their text.
 */
export class AnswerChunks {
  #hasStarted = false;
  #isInStep = false;
  /** The text part that is open at the page. */
  #open: { readonly kind: Kind; readonly id: string } | undefined;
  #count = 0;
  /** Characters that the page has of the message that is being said. */
  #said = 0;
  /** A step of partial events began before its event. */
  #hasBegunStep = false;

  constructor(
    private readonly messageId: string,
    private readonly options: ReadingOptions,
  ) {}

  /** Begins the message, once. */
  start(): UIMessageChunk[] {
    if (this.#hasStarted) return [];
    this.#hasStarted = true;
    return [{ type: 'start', messageId: this.messageId }];
  }

  /** Whether the page has a part of a message that is not complete. It cannot be taken back. */
  get hasSaidPart(): boolean {
    return this.#said > 0;
  }

  add(event: LoggedEvent | EventInput): UIMessageChunk[] {
    if (isByUser(event)) return this.start();
    if (event.partial === true) return [...this.start(), ...this.#partial(event)];
    return [...this.start(), ...this.#whole(event as LoggedEvent)];
  }

  /** Ends what is open. */
  end(): UIMessageChunk[] {
    const chunks = [...this.start(), ...this.#close(), ...(this.#isInStep ? [{ type: 'finish-step' } as const] : [])];
    this.#isInStep = false;
    return chunks;
  }

  #partial(event: EventInput): UIMessageChunk[] {
    const chunks = this.#said === 0 ? this.#beginStep() : [];
    if (this.#said === 0) this.#hasBegunStep = true;
    for (const { text, thought } of readTexts(event)) {
      this.#said += text.length;
      chunks.push(...this.#say(thought === true ? 'reasoning' : 'text', text));
    }
    return chunks;
  }

  #whole(event: LoggedEvent): UIMessageChunk[] {
    const items = readEventItems(event, this.options);
    const chunks = items.flatMap((item) => this.#itemChunks(item));
    this.#said = 0;
    this.#hasBegunStep = false;
    return [...chunks, ...this.#close()];
  }

  #itemChunks(item: EventItem): UIMessageChunk[] {
    switch (item.type) {
      case 'step':
        return this.#hasBegunStep ? [] : this.#beginStep();
      case 'part':
        return this.#partChunks(item.part);
      case 'call':
        return [...this.#close(), callChunk(item)];
      case 'asked': {
        const { approvalId, toolCallId, details } = item;
        return [...this.#close(), { type: 'tool-approval-request', approvalId, toolCallId, ...details }];
      }
      case 'result':
        return [...this.#close(), ...resultChunks(item)];
      case 'metadata':
        return [{ type: 'message-metadata', messageMetadata: item.metadata }];
      case 'answered':
        return [];
    }
  }

  #partChunks(part: UIPart): UIMessageChunk[] {
    switch (part.type) {
      case 'text':
      case 'reasoning':
        return this.#textChunks(part.type, part.text, part.providerMetadata);
      case 'file':
      case 'source-url':
      case 'source-document':
        return [...this.#close(), part];
      default:
        return 'data' in part ? [...this.#close(), part] : [];
    }
  }

  /** What partial events have said is not said again. */
  #textChunks(kind: Kind, text: string, providerMetadata: object | undefined): UIMessageChunk[] {
    const known = Math.min(this.#said, text.length);
    this.#said -= known;
    const chunks = known === 0 ? this.#close() : [];
    if (known < text.length || (known === 0 && text === '')) chunks.push(...this.#say(kind, text.slice(known)));
    const open = this.#open;
    if (open?.kind === kind && this.#said === 0) chunks.push(...this.#close(providerMetadata));
    return chunks;
  }

  #beginStep(): UIMessageChunk[] {
    const before = this.#close();
    if (this.#isInStep) before.push({ type: 'finish-step' });
    this.#isInStep = true;
    return [...before, { type: 'start-step' }];
  }

  #say(kind: Kind, delta: string): UIMessageChunk[] {
    const chunks: UIMessageChunk[] = [];
    if (this.#open?.kind !== kind) {
      chunks.push(...this.#close());
      this.#open = { kind, id: `${kind}-${++this.#count}` };
      chunks.push({ type: `${kind}-start`, id: this.#open.id });
    }
    if (delta !== '') chunks.push({ type: `${kind}-delta`, id: this.#open.id, delta });
    return chunks;
  }

  #close(providerMetadata?: object): UIMessageChunk[] {
    if (!this.#open) return [];
    const { kind, id } = this.#open;
    this.#open = undefined;
    return [{ type: `${kind}-end`, id, ...defined({ providerMetadata }) } as UIMessageChunk];
  }
}

function callChunk(item: CallItem): UIMessageChunk {
  const { type: _type, waits: _waits, id: _id, ...call } = item;
  return { type: 'tool-input-available', ...call };
}

function resultChunks({ outcome }: EventItem & { type: 'result' }): UIMessageChunk[] {
  const { toolCallId, result, providerMetadata, toolMetadata } = outcome;
  if (toolCallId === undefined) return [];
  if (result.type === 'denied') return [{ type: 'tool-output-denied', toolCallId }];
  const details = { toolCallId, ...defined({ providerMetadata, toolMetadata }) };
  if (result.type === 'error') return [{ type: 'tool-output-error', errorText: result.errorText, ...details }];
  return [{ type: 'tool-output-available', output: result.output, ...details }];
}
