import type { Content } from '../../sessions/domain/event/content.js';
import { EventActions, type EventInput, type EventLike } from '../../sessions/domain/event/event.js';
import { RESERVED } from '../../sessions/domain/values/reserved-words.js';
import { type Speaker, eventBy } from '../../sessions/domain/event/open-calls.js';
import type { Session } from '../../sessions/domain/session/session.js';
import { isTempKey } from '../../state/scopes.js';
import { type RunPolicy, isInterrupting } from './run-policy.js';

/**
 * A message that waits in the log for its turn, and so survives the process that got it. It is appended as a message when its turn
 * comes: models accept none between a tool call and its response.
 */
export interface QueuedMessage {
  readonly policy: RunPolicy;
  readonly message: Content;
  readonly stateDelta?: Record<string, unknown>;
  readonly customMetadata?: Record<string, unknown>;
  /** The last event that stays when this message is taken. */
  readonly rewindTo?: number;
  /** The invocation that a `rollback` takes back. */
  readonly target?: string;
  /** Its invocation has begun, and waits for a process that goes on with it. */
  readonly handedOver?: HandedOver;
}

/** An invocation that its process has left unfinished, since it closes. */
export interface HandedOver {
  /** The message of the invocation. */
  readonly messageSeq: number;
  readonly agentName: string;
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

const { queued: QUEUED_ID, message: MESSAGE_ID, withdrawn: WITHDRAWN_ID } = RESERVED.ids;
/** Marks a session that has queued messages: fields of its metadata, so that every load shows them. */
const QUEUED_FIELD = `${RESERVED.metadata.agents}queued:`;
/** Marks it if one of them has begun. These have room however many wait. */
const HANDED_OVER_FIELD = `${RESERVED.metadata.agents}handedOver:`;

/** The id of the event with the message of an invocation. Ids are unique, so a message is taken once. */
export function messageIdOf(invocationId: string): string {
  return MESSAGE_ID + invocationId;
}

/**
 * The invocation whose message this event is, if it is one: of the run that the message began, or joined.
 *
 * @example const message = session.events.find((event) => invocationOfMessage(event) === invocationId);
 */
export function invocationOfMessage({ id }: EventInput): string | undefined {
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
    actions: new EventActions({
      queued: { ...message, ...(stored.length > 0 && { stateDelta: Object.fromEntries(stored) }) },
      metadataDelta: {
        fields: { [(message.handedOver ? HANDED_OVER_FIELD : QUEUED_FIELD) + invocationId]: sessionId },
      },
    }),
  };
}

/** The id of a queued message, and of an invocation of its own, by which it is found however old it is. */
export function queuedIdOf(invocationId: string): string {
  return QUEUED_ID + invocationId;
}

/** The event that leaves a running invocation to the process that is next. It waits before all messages that have not begun. */
export function handOverEvent(
  invocationId: string,
  sessionId: string,
  message: Content,
  handedOver: HandedOver,
): EventInput {
  const { id: _id, ...event } = queueEvent(invocationId, sessionId, { policy: 'enqueue', message, handedOver });
  return event;
}

/** The queued message of an event, if it is one. */
export function queueEntryOf(event: EventLike & { readonly seq: number }): QueueEntry | undefined {
  const queued = event.actions?.queued as QueuedMessage | undefined;
  const queuedId = [event.id, event.invocationId].find((id) => id?.startsWith(QUEUED_ID));
  if (!queued || queuedId === undefined) return undefined;
  return { ...queued, invocationId: queuedId.slice(QUEUED_ID.length), seq: event.seq };
}

/** The event that stops a running invocation. */
export function stopEvent(stop: StopRequest): EventInput {
  return { author: 'system', actions: new EventActions({ stop }) };
}

/** The request to stop in an event, if it is one. */
export function stopRequestOf({ actions }: EventLike): StopRequest | undefined {
  return actions?.stop as StopRequest | undefined;
}

/** The event that takes a queued message back. */
export function withdrawEvent(invocationId: string): EventInput {
  return {
    id: WITHDRAWN_ID + invocationId,
    author: 'system',
    actions: new EventActions({
      withdrawn: { invocationId },
      metadataDelta: { fieldRemovals: listMarkFields(invocationId) },
    }),
  };
}

function listMarkFields(invocationId: string): string[] {
  return [QUEUED_FIELD + invocationId, HANDED_OVER_FIELD + invocationId];
}

/** The invocation of a mark. */
function markedBy(field: string): string | undefined {
  const prefix = [QUEUED_FIELD, HANDED_OVER_FIELD].find((each) => field.startsWith(each));
  return prefix && field.slice(prefix.length);
}

/** The event that removes marks of queued messages: they are no longer in the log, or their invocation goes on. */
export function dequeuedEvent(invocationIds: readonly string[]): EventInput {
  const fieldRemovals = invocationIds.flatMap(listMarkFields);
  return { author: 'system', actions: new EventActions({ withdrawn: {}, metadataDelta: { fieldRemovals } }) };
}

/** The invocations whose messages wait no longer, by this event. */
export function dequeuedBy(event: EventLike): string[] {
  const removed = event.actions?.metadataDelta?.fieldRemovals ?? [];
  const gone = new Set(removed.flatMap((name) => markedBy(name) ?? []));
  for (const invocationId of [invocationOfMessage(event), withdrawnBy(event)]) {
    if (invocationId !== undefined) gone.add(invocationId);
  }
  return [...gone];
}

/** The event that takes back approvals that can no longer be answered. */
export function withdrawnApprovalsEvent(): EventInput {
  return { author: 'system', actions: new EventActions({ withdrawn: {} }) };
}

/** The invocation whose message this event takes back, if it does. */
export function withdrawnBy({ actions }: EventLike): string | undefined {
  return actions?.withdrawn?.invocationId;
}

/** A message of which only pieces were said. */
export interface SaidInPieces extends Partial<Speaker> {
  /** The id of its pieces. */
  readonly id: string;
  readonly invocationId: string;
}

/** The event that takes the pieces of a message back: nothing completes them. It has their id and their speaker. */
export function discardEvent({ id, invocationId, author = '', branch }: SaidInPieces): EventInput {
  return { ...eventBy({ author, branch }, invocationId), id, actions: new EventActions({ discarded: true }) };
}

/** The events that take all of these messages back. */
export function discardsOf(said: readonly SaidInPieces[]): EventInput[] {
  return [...new Map(said.map((message) => [message.id, discardEvent(message)])).values()];
}

/**
 * Whether the event takes the partial events of a message back: nothing completes them.
 *
 * @example if (isDiscard(event)) page.remove(event.id);
 */
export function isDiscard({ actions }: EventLike): boolean {
  return actions?.discarded === true;
}

/** Whether the readers of a run get the event: all but messages, and what only controls turns. */
export function isOfAnswer(event: EventLike): boolean {
  return event.author !== 'user' && (!isControlEvent(event) || isDiscard(event));
}

/**
 * Whether the event only controls turns, or sums up one branch, and says nothing to readers of the conversation.
 *
 * @example const shown = session.events.filter((event) => !isControlEvent(event));
 */
export function isControlEvent({ actions }: EventLike): boolean {
  return Boolean(
    actions?.queued ?? actions?.stop ?? actions?.withdrawn ?? actions?.discarded ?? actions?.branchSummary,
  );
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
  const marks = Object.entries(metadata.fields ?? {}).filter(([, sessionId]) => sessionId === id);
  return new Set(marks.flatMap(([name]) => markedBy(name) ?? []));
}

/** The order in which queued messages get their turn: who interrupts comes first, then who has begun. */
export function inQueueOrder<Place extends Pick<QueueEntry, 'policy' | 'handedOver' | 'seq'>>(
  entries: readonly Place[],
): Place[] {
  const rank = ({ policy, handedOver }: Place): number => (isInterrupting(policy) ? 0 : handedOver ? 1 : 2);
  return [...entries].sort((one, other) => rank(one) - rank(other) || one.seq - other.seq);
}
