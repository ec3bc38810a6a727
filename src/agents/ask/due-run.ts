import { isDeepStrictEqual } from 'node:util';
import type { Content } from '../../sessions/domain/event/content.js';
import { EventConflictError } from '../../sessions/domain/errors/errors.js';
import type { EventInput, LoggedEvent } from '../../sessions/domain/event/event.js';
import type { Session } from '../../sessions/domain/session/session.js';
import type { EventPage } from '../../sessions/operations/list-events.js';
import type { HeldTurn } from '../../sessions/operations/turns.js';
import type { AgentEnvironment } from '../turn/agent-environment.js';
import {
  type TakenMessage,
  inQueueOrder,
  invocationOfMessage,
  messageIdOf,
  queueEntryOf,
  queuedIn,
  dequeuedEvent,
  withdrawnBy,
} from '../turn/control-events.js';
import { isInterrupting } from '../turn/run-policy.js';
import { type QueuePlace, batchLimitsOf, batchWith, isWhole, readMessages } from '../turn/queue-place.js';
import { readQueue } from './queue.js';
import type { CheckedRun } from './run-request.js';

const PAGE = 100;

/** A message whose turn has come. */
export interface DueRun extends CheckedRun {
  /** Its place in the queue, if it waited. */
  readonly entry: QueuePlace | undefined;
  /** Whether a part of the budget is reserved for it. */
  readonly hasBudget?: boolean;
}

/** With what it brings, if that was left to the log. `undefined` if it was trimmed there. */
export async function wholeDue(env: AgentEnvironment, due: DueRun): Promise<DueRun | undefined> {
  if (!due.entry || isWhole(due.entry)) return due;
  const [entry] = await readMessages(env, due.key, [due.entry]);
  if (!entry) return undefined;
  const { message, stateDelta, customMetadata } = entry;
  const ownDelta = due.stateDelta ? { ...stateDelta, ...due.stateDelta } : stateDelta;
  return { ...due, message, stateDelta: ownDelta, customMetadata };
}

/** Whether the message was taken back just before its turn. If not, somebody has taken it since it waits. */
export async function isWithdrawn(
  { sessions }: AgentEnvironment,
  { key, invocationId, entry }: DueRun,
  session: Session,
): Promise<boolean> {
  if (queuedIn(session).has(invocationId)) return false;
  for (let afterSeq: number | undefined = entry?.seq ?? 0; afterSeq !== undefined;) {
    const { events, nextCursor }: EventPage = await sessions.listEvents({ ...key, afterSeq, limit: PAGE });
    if (events.some((event) => invocationOfMessage(event) === invocationId)) return false;
    afterSeq = nextCursor === undefined ? undefined : events.at(-1)?.seq;
  }
  return true;
}

/**
 * Whether the same request waited before, and was taken back.
 *
 * @param events the newest ones
 */
export function wasWithdrawn({ invocationId, message }: DueRun, events: readonly LoggedEvent[]): boolean {
  if (!events.some((event) => withdrawnBy(event) === invocationId)) return false;
  if (events.some((event) => invocationOfMessage(event) === invocationId)) return false;
  const entry = events.map(queueEntryOf).find((queued) => queued?.invocationId === invocationId);
  // A message that the store refused may be corrected.
  return entry !== undefined && isSameContent({ content: { role: 'user', ...entry.message } }, message);
}

/** The messages that wait. Those that were trimmed with their history are lost, and leave the queue. */
export async function waitingMessages(
  env: AgentEnvironment,
  { key, invocationId: own }: DueRun,
  session: Session,
  turn: HeldTurn,
): Promise<QueuePlace[]> {
  const queued = queuedIn(session);
  if (queued.size === 0) return [];
  const queue = await readQueue(env, key, queued);
  const lost = new Set(queued);
  for (const invocationId of [own, ...queue.map((entry) => entry.invocationId)]) lost.delete(invocationId);
  if (lost.size > 0) await env.sessions.appendEvents({ session, events: [dequeuedEvent([...lost])], turn });
  return queue;
}

/** Whether others are before it. What goes on was there before all messages that have not begun. */
export function mustWaitFor({ entry, policy }: DueRun, queue: readonly QueuePlace[], goesOn: boolean): boolean {
  // One that interrupts, or was handed over, may have come after this message last looked.
  if (entry) return queue.some((other) => isUrgent(other) && inQueueOrder([entry, other])[0] === other);
  if (goesOn) return queue.some(({ handedOver }) => handedOver !== undefined);
  return isInterrupting(policy) ? queue.some((other) => isInterrupting(other.policy)) : queue.length > 0;
}

/** Whether it comes before messages that came earlier. */
function isUrgent({ policy, handedOver }: QueuePlace): boolean {
  return isInterrupting(policy) || handedOver !== undefined;
}

/** What the turn answers. One call answers all messages that came while it was not quiet, as far as they fit. */
export async function readTurnMessages(
  env: AgentEnvironment,
  due: DueRun,
  queue: readonly QueuePlace[],
): Promise<TakenMessage[]> {
  const { invocationId, message, stateDelta, customMetadata, entry, policy } = due;
  const own = { invocationId, message, stateDelta, customMetadata, isQueued: entry !== undefined };
  if (policy !== 'debounce' || !entry) return [own];
  const joined = queue.filter((other) => other.policy === 'debounce');
  const batch = batchWith(entry, joined, batchLimitsOf(env.sessions));
  const at = batch.indexOf(entry);
  const before = await readMessages(env, due.key, batch.slice(0, at));
  const after = await readMessages(env, due.key, batch.slice(at + 1));
  const taken = (each: (typeof before)[number]): TakenMessage => ({ ...each, isQueued: true });
  return [...before.map(taken), own, ...after.map(taken)];
}

/** Compares what JSON keeps. */
export function isSameContent({ content }: EventInput, message: Content): boolean {
  return isDeepStrictEqual(content, JSON.parse(JSON.stringify({ role: 'user', ...message })));
}

/** The message was stored by an earlier request, outside of the view. */
export class RepeatedMessage extends Error {
  constructor(readonly seq: number) {
    super('The message was stored before');
  }
}

/** Where the message of an invocation was stored before, if the error says so. */
export function repeatedAt(error: unknown, invocationId: string): number | undefined {
  if (error instanceof RepeatedMessage) return error.seq;
  return error instanceof EventConflictError && error.eventId === messageIdOf(invocationId) ? error.seq : undefined;
}
