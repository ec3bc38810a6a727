import type { Content } from '../sessions/domain/event.js';
import type { EventInput } from '../sessions/domain/event.js';
import type { Session } from '../sessions/domain/session.js';
import { isTempKey } from '../state/scopes.js';

/** What happens with a message that comes while a turn runs. */
export const RUN_POLICIES = ['reject', 'enqueue', 'interrupt', 'rollback', 'merge', 'debounce'] as const;

/** What happens with a message that comes while a turn runs. */
export type RunPolicy = (typeof RUN_POLICIES)[number];

/** A message that waits in the log for its turn. */
export interface QueuedMessage {
  readonly policy: RunPolicy;
  readonly message: Content;
  readonly stateDelta?: Record<string, unknown>;
  readonly customMetadata?: Record<string, unknown>;
  /** The last event that stays when this message is taken. */
  readonly rewindTo?: number;
  /** The invocation that a `rollback` takes back. */
  readonly target?: string;
}

/** A queued message, and its place in the log. */
export interface QueueEntry extends QueuedMessage {
  /** The invocation that it asks for. */
  readonly invocationId: string;
  readonly seq: number;
}

/** A request to stop a running invocation. */
export interface StopRequest {
  readonly invocationId: string;
}

const QUEUED_ID = 'queued:';
const MESSAGE_ID = 'message:';
const WITHDRAWN_ID = 'withdrawn:';
/** Marks a session that has queued messages: fields of its metadata, so that every load shows them. */
const QUEUED_FIELD = 'agents:queued:';

/** The id of the event with the message of an invocation. Ids are unique, so a message is taken once. */
export function messageIdOf(invocationId: string): string {
  return MESSAGE_ID + invocationId;
}

/** The invocation whose message this event is, if it is one. */
export function messageOf({ id }: EventInput): string | undefined {
  return id?.startsWith(MESSAGE_ID) ? id.slice(MESSAGE_ID.length) : undefined;
}

/** The event that stores a message until its turn comes, without its `temp:` keys, which are never stored. */
export function queueEvent(invocationId: string, sessionId: string, queued: QueuedMessage): EventInput {
  const { stateDelta, ...message } = queued;
  const stored = Object.entries(stateDelta ?? {}).filter(([key]) => !isTempKey(key));
  return {
    id: queuedIdOf(invocationId),
    invocationId: queuedIdOf(invocationId),
    author: 'system',
    actions: {
      queued: { ...message, ...(stored.length > 0 && { stateDelta: Object.fromEntries(stored) }) },
      metadataDelta: { fields: { [QUEUED_FIELD + invocationId]: sessionId } },
    },
  };
}

/** The id of a queued message, and of an invocation of its own, by which it is found however old it is. */
export function queuedIdOf(invocationId: string): string {
  return QUEUED_ID + invocationId;
}

/** The queued message of an event, if it is one. */
export function queueEntryOf({ id, seq, actions }: EventInput & { readonly seq: number }): QueueEntry | undefined {
  const queued = actions?.queued as QueuedMessage | undefined;
  if (!queued || !id?.startsWith(QUEUED_ID)) return undefined;
  return { ...queued, invocationId: id.slice(QUEUED_ID.length), seq };
}

/** The event that stops a running invocation. */
export function stopEvent(stop: StopRequest): EventInput {
  return { author: 'system', actions: { stop } };
}

/** The request to stop in an event, if it is one. */
export function stopRequestOf({ actions }: EventInput): StopRequest | undefined {
  return actions?.stop as StopRequest | undefined;
}

/** The event that takes a queued message back. */
export function withdrawEvent(invocationId: string): EventInput {
  return {
    id: WITHDRAWN_ID + invocationId,
    author: 'system',
    actions: { withdrawn: { invocationId }, metadataDelta: { fieldRemovals: [QUEUED_FIELD + invocationId] } },
  };
}

/** The event that removes marks of queued messages that are no longer in the log. */
export function lostEvent(invocationIds: readonly string[]): EventInput {
  const fieldRemovals = invocationIds.map((invocationId) => QUEUED_FIELD + invocationId);
  return { author: 'system', actions: { withdrawn: {}, metadataDelta: { fieldRemovals } } };
}

/** The event that takes back approvals that can no longer be answered. */
export function withdrawnApprovalsEvent(): EventInput {
  return { author: 'system', actions: { withdrawn: {} } };
}

/** The invocation whose message this event takes back, if it does. */
export function withdrawnBy({ actions }: EventInput): string | undefined {
  return (actions?.withdrawn as Partial<StopRequest> | undefined)?.invocationId;
}

/**
 * Whether the event only controls turns, and says nothing.
 *
 * @example const shown = session.events.filter((event) => !isControlEvent(event));
 */
export function isControlEvent({ actions }: EventInput): boolean {
  return Boolean(actions?.queued ?? actions?.stop ?? actions?.withdrawn);
}

/** The message that begins or joins an invocation. */
export interface TakenMessage {
  /** The invocation that the message asked for. */
  readonly invocationId: string;
  readonly message: Content;
  readonly stateDelta?: Record<string, unknown> | undefined;
  readonly customMetadata?: Record<string, unknown> | undefined;
  readonly isQueued: boolean;
}

/** The event by which an invocation takes a message. */
export function messageEvent(taken: TakenMessage, runningId: string): EventInput {
  const { invocationId, message, stateDelta, customMetadata, isQueued } = taken;
  return {
    id: messageIdOf(invocationId),
    invocationId: runningId,
    author: 'user',
    content: { role: 'user', ...message },
    ...(customMetadata && { customMetadata }),
    actions: {
      ...(stateDelta && { stateDelta }),
      ...(isQueued && { metadataDelta: { fieldRemovals: [QUEUED_FIELD + invocationId] } }),
    },
  };
}

/** The invocations that have a queued message in this session. A fork copies the marks of its source, but not its queue. */
export function queuedIn({ id, metadata }: Session): ReadonlySet<string> {
  const marks = Object.entries(metadata.fields ?? {}).filter(
    ([name, sessionId]) => name.startsWith(QUEUED_FIELD) && sessionId === id,
  );
  return new Set(marks.map(([name]) => name.slice(QUEUED_FIELD.length)));
}

/** The order in which queued messages get their turn: who interrupts comes first. */
export function inQueueOrder(entries: readonly QueueEntry[]): QueueEntry[] {
  const rank = ({ policy }: QueueEntry): number => (isInterrupting(policy) ? 0 : 1);
  return [...entries].sort((one, other) => rank(one) - rank(other) || one.seq - other.seq);
}

/** Whether a message of this policy stops a running turn. */
export function isInterrupting(policy: RunPolicy): boolean {
  return policy === 'interrupt' || policy === 'rollback';
}
