import { isDeepStrictEqual } from 'node:util';
import type { Content, EventInput, LoggedEvent } from '../sessions/domain/event.js';
import type { Session } from '../sessions/domain/session.js';
import type { HeldTurn } from '../sessions/operations/turns.js';
import type { AgentEnvironment } from './agent-environment.js';
import {
  type QueueEntry,
  type TakenMessage,
  inQueueOrder,
  isInterrupting,
  lostEvent,
  messageOf,
  queueEntryOf,
  queuedIn,
  withdrawnBy,
} from './control-events.js';
import { findMessage, readQueue } from './queue.js';
import type { CheckedRun } from './run-request.js';

/** A message whose turn has come. */
export interface DueRun extends CheckedRun {
  /** Its place in the queue, if it waited. */
  readonly entry: QueueEntry | undefined;
}

/** Whether the message was taken back just before its turn. */
export async function isWithdrawn({ sessions }: AgentEnvironment, due: DueRun, session: Session): Promise<boolean> {
  if (queuedIn(session).has(due.invocationId)) return false;
  const { message } = await findMessage(sessions, due.key, due.invocationId);
  return message === undefined;
}

/**
 * Whether the same request waited before, and was taken back.
 *
 * @param events the newest ones
 */
export function wasWithdrawn({ invocationId, message }: DueRun, events: readonly LoggedEvent[]): boolean {
  if (!events.some((event) => withdrawnBy(event) === invocationId)) return false;
  if (events.some((event) => messageOf(event) === invocationId)) return false;
  const entry = events.map(queueEntryOf).find((queued) => queued?.invocationId === invocationId);
  // A message that the store refused may be corrected.
  return entry !== undefined && isSameContent({ content: { role: 'user', ...entry.message } }, message);
}

/** The other messages that wait. Those that were trimmed with their history are lost, and leave the queue. */
export async function othersInQueue(
  env: AgentEnvironment,
  due: DueRun,
  session: Session,
  turn: HeldTurn,
): Promise<QueueEntry[]> {
  const others = new Set(queuedIn(session));
  others.delete(due.invocationId);
  if (others.size === 0) return [];
  const queue = await readQueue(env, due.key, others);
  for (const { invocationId } of queue) others.delete(invocationId);
  if (others.size > 0) await env.sessions.appendEvents({ session, events: [lostEvent([...others])], turn });
  return queue;
}

/** Whether others are before it. */
export function mustWaitFor({ entry, policy }: DueRun, queue: readonly QueueEntry[]): boolean {
  const interrupting = queue.filter((other) => isInterrupting(other.policy));
  // One that interrupts may have come after this message last looked.
  if (entry) return interrupting.some((other) => inQueueOrder([entry, other])[0] === other);
  return isInterrupting(policy) ? interrupting.length > 0 : queue.length > 0;
}

/** What the turn answers. One call answers all messages that came while it was not quiet. */
export function messagesOf(due: DueRun, queue: readonly QueueEntry[]): TakenMessage[] {
  const { invocationId, message, stateDelta, customMetadata, entry, policy } = due;
  const own = { invocationId, message, stateDelta, customMetadata, isQueued: entry !== undefined };
  if (policy !== 'debounce' || !entry) return [own];
  const joined = queue.filter((other) => other.policy === 'debounce');
  return inQueueOrder([...joined, entry]).map((each) =>
    each === entry ? own : { ...each, stateDelta: each.stateDelta, isQueued: true },
  );
}

/** Compares what JSON keeps. */
export function isSameContent({ content }: EventInput, message: Content): boolean {
  return isDeepStrictEqual(content, JSON.parse(JSON.stringify({ role: 'user', ...message })));
}
