import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import { isRewind } from '../../sessions/domain/event/event-inspection.js';
import { SessionNotFoundError } from '../../sessions/domain/errors/errors.js';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import { type AgentEnvironment, runningInvocation } from '../turn/agent-environment.js';
import type { WatchedEvent } from '../../sessions/operations/state-history.js';
import type { RunEvents } from '../turn/run-events.js';
import { isControlEvent, isDiscard, invocationOfMessage, queueEntryOf } from '../turn/control-events.js';
import { InvocationEnd } from '../invocation/invocation-end.js';

/** The invocation to follow, from its message on. */
export interface Followed {
  readonly key: SessionKey;
  readonly invocationId: string;
  readonly afterSeq: number;
  readonly agentName: string;
}

/** What became of the invocation. */
export interface FollowedEnd {
  readonly events: readonly LoggedEvent[];
  /** Whether it ended with a final response. If not, its process died. */
  readonly isClosed: boolean;
}

const PAGE = 100;

/**
 * Follows an invocation that another process, or another call, runs. Ends when its turn is over, or with the signal.
 *
 * @param shown gets each event, partial ones too
 *
 * @example
 * const { isClosed } = await followInvocation({ sessions, pollMs: 1_000, onError }, followed, { add: send }, signal);
 */
export async function followInvocation(
  env: Pick<AgentEnvironment, 'sessions' | 'pollMs' | 'onError'>,
  { key, invocationId, afterSeq, agentName }: Followed,
  shown: Pick<RunEvents, 'add'>,
  signal: AbortSignal,
): Promise<FollowedEnd> {
  const { sessions } = env;
  const end = new InvocationEnd(agentName);
  const events: LoggedEvent[] = [];
  let seq = afterSeq;
  const take = ({ position: _position, ...event }: WatchedEvent): void => {
    if (event.partial === true) {
      const { seq: _seq, ...said } = event;
      if (event.invocationId === invocationId) shown.add({ ...said, partial: true });
      return;
    }
    if (event.seq <= seq) return;
    seq = event.seq;
    // It is not over, whatever one of its agents has said.
    const entry = queueEntryOf(event);
    if (entry?.handedOver && entry.invocationId === invocationId) end.reopen();
    if (event.invocationId !== invocationId || (isControlEvent(event) && !isDiscard(event))) return;
    end.add(event);
    if (invocationOfMessage(event) !== undefined) return;
    events.push(event);
    shown.add(event);
  };
  const over = new AbortController();
  const check = async (): Promise<void> => {
    const turn = await sessions.getTurn(key);
    if (runningInvocation(turn) !== invocationId) over.abort();
  };
  const onError = (error: unknown): void => {
    if (error instanceof SessionNotFoundError) over.abort();
    else env.onError(error);
  };
  const timer = setInterval(() => void check().catch(onError), env.pollMs);
  try {
    await check();
    const ended = AbortSignal.any([over.signal, signal]);
    for await (const event of sessions.watch({ ...key, afterSeq, partials: true, signal: ended })) {
      take(event);
      if (end.isClosed || isRewind(event)) await check();
    }
    for (let isMore = true; isMore;) {
      const page = await sessions.listEvents({ ...key, afterSeq: seq, limit: PAGE });
      for (const event of page.events) take(event);
      isMore = page.nextCursor !== undefined;
    }
  } finally {
    clearInterval(timer);
  }
  return { events, isClosed: end.isClosed };
}
