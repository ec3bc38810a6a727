import type { DynamicToolUIPart, ReasoningUIPart, TextUIPart, ToolUIPart, UIMessageChunk } from 'ai';
import { defined } from '../../adapter.js';
import type { EventInput } from '../../index.js';
import { mergedMetadata } from './merged-metadata.js';
import type { Question } from './model-question.js';
import { type SdkFields, type UIPart, sdkFieldsOf, sdkMetadata } from './sdk-fields.js';
import { type AskedApproval, approvalsEvent, isToolPart, modelEvent, resultsEvent, toolNameOf } from './step-events.js';
import type { ToolOutcome } from './tool-outcome.js';
import { type StepUsage, usageMetadataOf } from './usage.js';

/** What the recorder knows of the answer. */
export interface RecorderOptions {
  /** The message, if the invocation does not name it. */
  readonly message: string | undefined;
  /** Names of the tools that are called before this answer, by call. */
  readonly calls: ReadonlyMap<string, string>;
  /** The tools that the page runs, as far as they are known. */
  readonly pageTools: ReadonlySet<string>;
  /** The next step's tokens, in order. */
  readonly takeUsage: () => StepUsage | undefined;
  /** What the model was asked for the step that begins, if it is known. */
  readonly takeQuestion: () => Question | undefined;
}

/** An event of an answer, and what the model was asked for it. */
export interface StepEvent {
  readonly event: EventInput;
  readonly question?: Question | undefined;
}

/** Makes events of the chunks of an answer: for each step what the model said and called, and what the tools returned. */
export class StepRecorder {
  #parts: UIPart[] = [];
  #outcomes: ToolOutcome[] = [];
  readonly #asked: AskedApproval[] = [];
  readonly #calls: Map<string, string>;
  /** Calls of this answer without outcome. */
  readonly #open = new Map<string, ToolUIPart | DynamicToolUIPart>();
  readonly #speaking = new Map<string, TextUIPart | ReasoningUIPart>();
  #beginsStep = false;
  #metadata: unknown;
  #error: string | undefined;
  /** What the model was asked for this step, until an event says so. */
  #question: Question | undefined;
  /** Whether the tokens of this step are in the log before it ended. */
  #isCounted = false;

  constructor(private readonly options: RecorderOptions) {
    this.#calls = new Map(options.calls);
  }

  /** What the page was told about an error, if there was one. */
  get error(): string | undefined {
    return this.#error;
  }

  /** Whether there is something that should be in the log while tools work. */
  get hasWaiting(): boolean {
    return this.#speaking.size === 0 && (this.#outcomes.length > 0 || this.#parts.some(isToolPart));
  }

  /** Notes a chunk. Returns the partial event that it is, or the events that it completes. */
  add(chunk: UIMessageChunk): StepEvent[] {
    switch (chunk.type) {
      case 'start':
      case 'finish':
      case 'message-metadata':
        this.#metadata = mergedMetadata(this.#metadata, chunk.messageMetadata);
        return [];
      case 'start-step':
        this.#question = this.options.takeQuestion();
        // Data may come before the first step.
        if (this.#parts.length > 0) {
          this.#parts.push({ type: 'step-start' });
          return [];
        }
        this.#beginsStep = true;
        // Of tools that were approved: the model of this step is told.
        return this.takeSoFar();
      case 'finish-step':
        return this.takeStep();
      case 'text-start':
      case 'reasoning-start':
        this.#begin(chunk);
        return [];
      case 'text-delta':
      case 'reasoning-delta':
        return this.#say(chunk);
      case 'text-end':
      case 'reasoning-end':
        this.#describe(chunk);
        this.#speaking.delete(formatSpokenKey(chunk));
        return [];
      case 'error':
        this.#error = chunk.errorText;
        return [];
      default:
        this.#note(chunk);
        return [];
    }
  }

  /** What is complete so far. */
  takeSoFar(): StepEvent[] {
    return this.#take(undefined, this.#callsOfPage());
  }

  /** The rest of the step. */
  takeStep(): StepEvent[] {
    const used = this.options.takeUsage();
    // Tools of the server have returned when a step ends.
    const events = this.#take(this.#isCounted ? undefined : used, [...this.#open.keys()]);
    this.#isCounted = false;
    return events;
  }

  /** The event that asks for approvals, if tools need some. */
  takeAsked(): StepEvent[] {
    const asked = this.#asked.splice(0);
    return asked.length > 0 ? [{ event: approvalsEvent(asked, this.#fields()) }] : [];
  }

  /** The last event of the answer, with what the page keeps beside the message. */
  withMetadata(event: EventInput | undefined): EventInput | undefined {
    if (this.#metadata === undefined) return event;
    const fields = (event && sdkFieldsOf(event)) ?? this.#fields();
    const metadata = this.#metadata;
    this.#metadata = undefined;
    return { ...event, customMetadata: sdkMetadata({ ...fields, metadata }) };
  }

  #fields(): Pick<SdkFields, 'message'> {
    return defined({ message: this.options.message });
  }

  #take(used: StepUsage | undefined, waiting: readonly string[]): StepEvent[] {
    const parts = this.#parts;
    const outcomes = this.#outcomes;
    this.#parts = [];
    this.#outcomes = [];
    const events: EventInput[] = [];
    if (parts.length > 0) {
      const called = new Set(parts.flatMap((part) => (isToolPart(part) ? [part.toolCallId] : [])));
      const step = this.#beginsStep && { step: true as const };
      const ids = waiting.filter((id) => called.has(id));
      events.push(modelEvent(parts.filter(isSaid), { ...this.#fields(), ...step }, ids));
      this.#beginsStep = false;
    }
    const question = parts.length > 0 ? this.#question : undefined;
    if (question) this.#question = undefined;
    const counted = used ?? question?.used;
    this.#isCounted ||= counted !== undefined;
    if (outcomes.length > 0) events.push(resultsEvent(outcomes, this.#fields()));
    const [first, ...rest] = counted ? withUsage(events, counted) : events;
    return first ? [{ event: first, question }, ...rest.map((event) => ({ event }))] : [];
  }

  #callsOfPage(): string[] {
    const asked = new Set(this.#asked.map(({ toolCallId }) => toolCallId));
    const isOfPage = ([id, part]: readonly [string, ToolUIPart | DynamicToolUIPart]): boolean =>
      asked.has(id) || this.options.pageTools.has(toolNameOf(part));
    return [...this.#open].filter(isOfPage).map(([id]) => id);
  }

  #begin(chunk: SpokenChunk): void {
    const isThought = chunk.type.startsWith('reasoning');
    const part: TextUIPart | ReasoningUIPart = isThought
      ? { type: 'reasoning', id: chunk.id, text: '' }
      : { type: 'text', text: '' };
    this.#speaking.set(formatSpokenKey(chunk), part);
    this.#parts.push(part);
    this.#describe(chunk);
  }

  #say(chunk: SpokenChunk & { delta: string }): StepEvent[] {
    if (!this.#speaking.has(formatSpokenKey(chunk))) this.#begin(chunk);
    const part = this.#speaking.get(formatSpokenKey(chunk));
    if (!part || chunk.delta === '') return [];
    part.text += chunk.delta;
    this.#describe(chunk);
    const thought = part.type === 'reasoning' && { thought: true };
    return [{ event: { partial: true, content: { role: 'model', parts: [{ text: chunk.delta, ...thought }] } } }];
  }

  #describe(chunk: SpokenChunk): void {
    const part = this.#speaking.get(formatSpokenKey(chunk));
    if (part && chunk.providerMetadata) part.providerMetadata = chunk.providerMetadata;
  }

  #note(chunk: UIMessageChunk): void {
    switch (chunk.type) {
      case 'tool-input-available':
      case 'tool-input-error':
        this.#call(chunk);
        break;
      case 'tool-approval-request': {
        const { approvalId, toolCallId, approvalDescriptor: descriptor, inputSchemaInput, signature } = chunk;
        const { input } = this.#open.get(toolCallId) ?? {};
        const details = defined({ descriptor, inputSchemaInput, signature });
        this.#asked.push({ approvalId, toolCallId, toolName: this.#nameOf(toolCallId), input, ...details });
        break;
      }
      case 'tool-output-available':
        if (chunk.preliminary !== true) this.#conclude(chunk, { type: 'output', output: chunk.output });
        break;
      case 'tool-output-error':
        this.#conclude(chunk, { type: 'error', errorText: chunk.errorText });
        break;
      case 'tool-output-denied':
        this.#conclude(chunk, { type: 'denied' });
        break;
      case 'file':
      case 'source-url':
      case 'source-document':
        this.#parts.push(chunk);
        break;
      default:
        if ('data' in chunk && chunk.transient !== true) this.#addData(chunk);
    }
  }

  #call(chunk: UIMessageChunk & { type: 'tool-input-available' | 'tool-input-error' }): void {
    const { toolCallId, toolName, input, dynamic, title, toolMetadata, providerExecuted, providerMetadata } = chunk;
    const kind = dynamic === true ? { type: 'dynamic-tool', toolName } : { type: `tool-${toolName}` };
    const details = defined({ title, toolMetadata, providerExecuted, callProviderMetadata: providerMetadata });
    const part = { ...kind, toolCallId, state: 'input-available', input, ...details } as ToolUIPart | DynamicToolUIPart;
    this.#parts.push(part);
    this.#calls.set(toolCallId, toolName);
    this.#open.set(toolCallId, part);
    if (chunk.type === 'tool-input-error')
      this.#conclude({ toolCallId }, { type: 'error', errorText: chunk.errorText });
  }

  /** The last outcome of a call counts, as long as it is not stored. */
  #conclude(
    chunk: Pick<ToolOutcome, 'providerMetadata' | 'toolMetadata'> & { readonly toolCallId: string },
    result: ToolOutcome['result'],
  ): void {
    const { toolCallId, providerMetadata, toolMetadata } = chunk;
    this.#open.delete(toolCallId);
    this.#outcomes = this.#outcomes.filter((outcome) => outcome.toolCallId !== toolCallId);
    this.#outcomes.push({ toolCallId, toolName: this.#nameOf(toolCallId), result, providerMetadata, toolMetadata });
  }

  #nameOf(toolCallId: string): string {
    return this.#calls.get(toolCallId) ?? 'unknown';
  }

  /** Data with an id replaces what was there. */
  #addData({ type, id, data }: DataChunk): void {
    const part = { type, ...defined({ id }), data };
    const isSame = (each: UIPart): boolean => each.type === type && 'id' in each && each.id === id;
    const place = id === undefined ? -1 : this.#parts.findIndex(isSame);
    if (place >= 0) this.#parts[place] = part;
    else this.#parts.push(part);
  }
}

type DataChunk = Extract<UIMessageChunk, { readonly type: `data-${string}` }>;

type SpokenChunk = UIMessageChunk & {
  type: `${'text' | 'reasoning'}-${'start' | 'delta' | 'end'}`;
};

function formatSpokenKey({ type, id }: SpokenChunk): string {
  return `${type.startsWith('text') ? 'text' : 'reasoning'}:${id}`;
}

/** Providers begin texts and thoughts in which they say nothing. */
function isSaid(part: UIPart): boolean {
  const isText = part.type === 'text' || part.type === 'reasoning';
  return !isText || part.text !== '' || part.providerMetadata !== undefined;
}

/** Counted once, with what the model said in the step. */
function withUsage(events: readonly EventInput[], { usage, modelId }: StepUsage): EventInput[] {
  const usageMetadata = usageMetadataOf(usage);
  if (Object.keys(usageMetadata).length === 0) return [...events];
  const [first = { customMetadata: sdkMetadata({}) }, ...rest] = events;
  return [{ ...first, usageMetadata, ...defined({ modelVersion: modelId }) }, ...rest];
}
