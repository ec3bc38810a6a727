import { randomId } from './clock.js';
import { setField } from './json-value.js';
import type { MetadataDelta } from './metadata.js';

/** A summary that replaces the events `fromSeq` to `toSeq`. The event with this action holds the text. */
export interface Compaction {
  fromSeq: number;
  toSeq: number;
  [field: string]: unknown;
}

/** Takes the conversation back to its state after event `toSeq`. */
export interface Rewind {
  toSeq: number;
  [field: string]: unknown;
}

/** The actions of an event as input. Unknown fields are kept. */
export interface EventActionsInput {
  stateDelta?: Record<string, unknown>;
  stateRemovals?: string[];
  /** Changes of the session's metadata. */
  metadataDelta?: MetadataDelta;
  artifactDelta?: Record<string, number>;
  skipSummarization?: boolean;
  transferToAgent?: string;
  escalate?: boolean;
  compaction?: Compaction;
  rewind?: Rewind;
  [field: string]: unknown;
}

/** The tokens of an event, by the names of Gemini and ADK. */
export interface UsageMetadata {
  /** Tokens of the prompt, cached ones included. */
  promptTokenCount?: number;
  cachedContentTokenCount?: number;
  /** Tokens of the answer, without thinking. */
  candidatesTokenCount?: number;
  thoughtsTokenCount?: number;
  toolUsePromptTokenCount?: number;
  totalTokenCount?: number;
  [field: string]: unknown;
}

/** An event as input. Missing fields get defaults; unknown fields are kept. */
export interface EventInput {
  id?: string;
  invocationId?: string;
  /** `user`, or the name of an agent. Required for stored events; a hook may set it. */
  author?: string;
  branch?: string;
  /** Epoch milliseconds. */
  timestamp?: number;
  partial?: boolean;
  content?: Content | null;
  actions?: EventActionsInput;
  longRunningToolIds?: string[];
  /** Tokens, by the names of Gemini. */
  usageMetadata?: UsageMetadata;
  /** The model that answered. */
  modelVersion?: string;
  errorCode?: string;
  errorMessage?: string;
  customMetadata?: Record<string, unknown>;
  turnComplete?: boolean;
  interrupted?: boolean;
  groundingMetadata?: unknown;
  [field: string]: unknown;
}

// Merges with the class below: the interface declares the optional fields.
export interface EventActions extends EventActionsInput {}

/**
 * The effects of an event. `null` in `stateDelta` is a stored value; only `stateRemovals` removes keys.
 *
 * @example
 * new EventActions({ stateDelta: { 'user:theme': 'dark' }, stateRemovals: ['draft'] });
 */
export class EventActions {
  stateDelta: Record<string, unknown> = {};

  constructor(init: EventActionsInput = {}) {
    defineFields(this, init);
  }
}

// Merges with the class below: the interface declares the optional fields.
export interface Event extends EventInput {}

/**
 * One entry of a session's log. An event of ADK for TypeScript fits as it is.
 *
 * @example
 * new Event({ author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } });
 */
export class Event {
  id: string = randomId();
  invocationId: string = '';
  timestamp: number = Date.now();
  actions: EventActions;
  /** The position in the log, from 1. The store assigns it. */
  seq?: number;

  constructor(init: EventInput = {}) {
    if (init.timestamp === undefined) filledInTimestamps.set(this, this.timestamp);
    this.actions = new EventActions(init.actions);
    defineFields(this, { ...init, actions: undefined });
  }
}

/** An event of the log, with its position. */
export type LoggedEvent = Event & { seq: number };

/** Timestamps that a constructor generated. They differ between retries and do not identify an event. */
const filledInTimestamps = new WeakMap<object, number>();

/** Whether the caller set the timestamp. */
export function isTimestampGiven(event: EventInput): boolean {
  const { timestamp } = event;
  return timestamp !== undefined && timestamp !== null && filledInTimestamps.get(event) !== timestamp;
}

/** Marks the timestamp of a copied event as generated, if it was in the original. Hooks make such copies. */
export function keepFilledInTimestamp(from: EventInput, to: EventInput): void {
  const timestamp = filledInTimestamps.get(from);
  if (timestamp !== undefined && typeof to === 'object') filledInTimestamps.set(to, timestamp);
}

/** Like Object.assign, but skips undefined values, and keeps `__proto__` an ordinary field. */
function defineFields(target: object, fields: object): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) setField(target, name, value);
  }
}

/** The content of a message, as in Google's ADK for TypeScript. Unknown fields are kept. */
export interface Content {
  role?: string;
  parts?: Part[];
  [field: string]: unknown;
}

/** A part of a message: text, a tool call or its response, data, code. */
export interface Part {
  text?: string;
  /** Whether this is a model's internal reasoning. */
  thought?: boolean;
  functionCall?: FunctionCall;
  functionResponse?: FunctionResponse;
  inlineData?: { mimeType?: string; data?: string; [field: string]: unknown };
  fileData?: { mimeType?: string; fileUri?: string; [field: string]: unknown };
  executableCode?: { code?: string; language?: string; [field: string]: unknown };
  codeExecutionResult?: { outcome?: string; output?: string; [field: string]: unknown };
  [field: string]: unknown;
}

/** A tool call by a model. */
export interface FunctionCall {
  id?: string;
  name?: string;
  args?: Record<string, unknown>;
  [field: string]: unknown;
}

/** A tool's response. It belongs to the call with the same `id`. */
export interface FunctionResponse {
  id?: string;
  name?: string;
  response?: unknown;
  [field: string]: unknown;
}
