import { randomId } from '../values/ids.js';
import type { Content, ContentInput } from './content.js';
import { setField } from '../values/json-value.js';
import type { MetadataDelta } from '../metadata/metadata.js';
import type { ModelRequest } from './model-request.js';

/** A summary that replaces the events `fromSeq` to `toSeq`. The event with this action holds the text. */
export interface Compaction {
  fromSeq: number;
  toSeq: number;
  model?: string;
  promptVersion?: string;
  originalEventCount?: number;
  compressedEventCount?: number;
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
  durationMs?: number;
  /** The last event that was there when the summary was written. */
  readToSeq?: number;
}

/** A summary of what one branch of a run sees, up to the event `toSeq`. Only readers of that branch get it. */
export interface BranchSummary extends Compaction {
  branch: string;
  text: string;
}

/** Takes the conversation back to its state after event `toSeq`. */
export interface Rewind {
  toSeq: number;
}

/** What is known of what an event said before it was redacted. */
export interface Redaction {
  /** When it was redacted, in epoch milliseconds. */
  at: number;
  /** Why, in the words of who asked for it. */
  reason: string;
  /** The size of the event before. */
  bytes: number;
  /** How many characters of text it had, which the session counts. */
  contentLength: number;
  /** Only what it said of these kinds is gone. Default: all that it said. */
  kinds?: readonly string[];
}

/** The actions of an event. */
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
  /** Of ADK: the credentials that tools ask for, by the id of the call. */
  requestedAuthConfigs?: Record<string, unknown>;
  /** Of ADK: the confirmations that tools ask for, by the id of the call. */
  requestedToolConfirmations?: Record<string, unknown>;
  /** Of ADK's workflows. */
  agentState?: Record<string, unknown>;
  /** Of ADK's workflows. */
  endOfAgent?: boolean;
}

/** The tokens of an event, by the names of Gemini and ADK. */
export interface UsageMetadata {
  /** Tokens of the prompt, cached ones included. */
  promptTokenCount?: number;
  cachedContentTokenCount?: number;
  /** Tokens of the answer, without thinking. */
  candidatesTokenCount?: number;
  /** The same in Gemini's live sessions. */
  responseTokenCount?: number;
  thoughtsTokenCount?: number;
  toolUsePromptTokenCount?: number;
  totalTokenCount?: number;
  initialPromptTokenCount?: number;
  promptTokensDetails?: unknown;
  cacheTokensDetails?: unknown;
  candidatesTokensDetails?: unknown;
  toolUsePromptTokensDetails?: unknown;
  trafficType?: string;
}

/** The fields of an event that are the same when it is written and when it is read. */
interface EventFields {
  id?: string;
  invocationId?: string;
  /** `user`, or the name of an agent. Required for stored events; a hook may set it. */
  author?: string;
  branch?: string;
  /** Epoch milliseconds. */
  timestamp?: number;
  partial?: boolean;
  longRunningToolIds?: string[];
  /** Tokens, by the names of Gemini. */
  usageMetadata?: UsageMetadata;
  /** The model that answered. */
  modelVersion?: string;
  /** What the model was given whose answer the event is. */
  modelRequest?: ModelRequest;
  errorCode?: string;
  errorMessage?: string;
  finishReason?: string;
  /** The event was redacted: its content is gone for good. See `SessionService.redactEvent`. */
  redaction?: Redaction;
  /** Fields of your own. */
  customMetadata?: Record<string, unknown>;
  turnComplete?: boolean;
  interrupted?: boolean;
  groundingMetadata?: unknown;
  citationMetadata?: unknown;
  /** Of ADK's live sessions. */
  inputTranscription?: unknown;
  outputTranscription?: unknown;
  liveSessionResumptionUpdate?: unknown;
  goAway?: unknown;
  interactionId?: string;
  liveSessionId?: string;
  /** Of ADK's workflows. */
  output?: unknown;
  route?: unknown;
  nodeInfo?: unknown;
  isolationScope?: string;
}

/**
 * An event as input. Missing fields get defaults. Fields of your own belong in `customMetadata`. What else
 * an object has that you pass on, such as an event of ADK, is kept.
 */
export interface EventInput extends EventFields {
  content?: ContentInput | null | undefined;
  actions?: EventActionsInput | undefined;
}

/** What only the product writes: most of it runs do. */
interface OwnActions {
  /** The event that was redacted, for those who have it elsewhere. */
  redacts?: { readonly id: string };
  /** A message that waits for its run. */
  queued?: object;
  /** The request to stop a run. */
  stop?: object;
  /** A waiting message, or approvals, that were taken back. */
  withdrawn?: { readonly invocationId?: string };
  /** What the readers of a branch get in place of earlier events. */
  branchSummary?: BranchSummary;
  /** Whether the text that partial events with this id had said was taken back. */
  discarded?: boolean;
  /** Whether the invocation waits for approvals. */
  awaitsApproval?: boolean;
  /** The event answers an approval. */
  approvalAnswer?: { readonly messageSeq: number; readonly refused?: string };
  /** Why the agent failed. */
  failure?: { readonly reason: string; readonly retryable: boolean };
}

// Merges with the class below: the interface declares the optional fields.
export interface EventActions extends EventActionsInput, OwnActions {}

/**
 * The effects of an event. `null` in `stateDelta` is a stored value; only `stateRemovals` removes keys.
 *
 * @example
 * new EventActions({ stateDelta: { 'user:theme': 'dark' }, stateRemovals: ['draft'] });
 */
export class EventActions {
  stateDelta: Record<string, unknown> = {};

  constructor(init: EventActionsInput & OwnActions = {}) {
    defineFields(this, init);
  }
}

// Merges with the class below: the interface declares the optional fields.
export interface Event extends EventFields {
  content?: Content | null;
}

/** An event to read, whether it is stored or not. Events of ADK for TypeScript, and `EventInput`, are such events. */
export interface EventLike extends EventFields {
  content?: Content | null;
  actions?: EventActionsInput & OwnActions;
}

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
