import type { Content } from './content.js';
import { randomId } from './clock.js';
import { setField } from './json-value.js';

/** A summary in place of the events `fromSeq` to `toSeq`; the event that carries it holds the text. */
export interface Compaction {
  fromSeq: number;
  toSeq: number;
  [field: string]: unknown;
}

/** Takes the conversation back to where it stood after event `toSeq`. */
export interface Rewind {
  toSeq: number;
  [field: string]: unknown;
}

/** What an event may do, as it is given. Fields not named here are kept. */
export interface EventActionsInput {
  stateDelta?: Record<string, unknown>;
  stateRemovals?: string[];
  artifactDelta?: Record<string, number>;
  skipSummarization?: boolean;
  transferToAgent?: string;
  escalate?: boolean;
  compaction?: Compaction;
  rewind?: Rewind;
  [field: string]: unknown;
}

/** An event as it may be given: what is missing is filled in. Fields not named here are kept. */
export interface EventInput {
  id?: string;
  invocationId?: string;
  author?: string;
  branch?: string;
  /** Epoch milliseconds. */
  timestamp?: number;
  partial?: boolean;
  content?: Content | null;
  actions?: EventActionsInput;
  longRunningToolIds?: string[];
  usageMetadata?: { totalTokenCount?: number; [field: string]: unknown };
  errorCode?: string;
  errorMessage?: string;
  customMetadata?: Record<string, unknown>;
  turnComplete?: boolean;
  interrupted?: boolean;
  groundingMetadata?: unknown;
  [field: string]: unknown;
}

// The class below and this interface are one type: the interface brings the optional fields.
export interface EventActions extends EventActionsInput {}

/**
 * What an event does besides being said. `null` in `stateDelta` is a stored value; keys go by
 * `stateRemovals` only.
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

// The class below and this interface are one type: the interface brings the optional fields.
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
  /** The place in the log, counted from 1; the store assigns it. */
  seq?: number;

  constructor(init: EventInput = {}) {
    if (init.timestamp === undefined) filledInTimestamps.set(this, this.timestamp);
    this.actions = new EventActions(init.actions);
    defineFields(this, { ...init, actions: undefined });
  }
}

/** An event as it came out of the store. */
export type LoggedEvent = Event & { seq: number };

/** Timestamps that a constructor filled in; they differ from try to try and are no part of what was said. */
const filledInTimestamps = new WeakMap<object, number>();

/** Whether the timestamp is the caller's own. */
export function isTimestampGiven(event: EventInput): boolean {
  const { timestamp } = event;
  return timestamp !== undefined && timestamp !== null && filledInTimestamps.get(event) !== timestamp;
}

/** A copy of an event, as hooks make them, has the timestamp that was filled in, not one of its caller. */
export function keepFilledInTimestamp(from: EventInput, to: EventInput): void {
  const timestamp = filledInTimestamps.get(from);
  if (timestamp !== undefined && typeof to === 'object') filledInTimestamps.set(to, timestamp);
}

/** Like Object.assign, but what is undefined is left out, and a field named `__proto__` stays a field. */
function defineFields(target: object, fields: object): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) setField(target, name, value);
  }
}
