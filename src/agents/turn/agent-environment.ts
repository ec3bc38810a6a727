import { hostname } from 'node:os';
import type { Clock } from '../../sessions/domain/process/clock.js';
import { type IdGenerator, MAX_ID_BYTES } from '../../sessions/domain/values/ids.js';
import type { TurnHolder } from '../../sessions/operations/turns.js';
import type { SessionService } from '../../sessions/session.service.js';
import type { AgentFailedError } from '../errors/agent-failed-error.js';
import type { PartialFlusher } from './partial-flusher.js';
import type { SessionStorage } from '../../sessions/storage/session-storage.js';

/** The dependencies and settings of turns. */
export interface AgentEnvironment {
  readonly sessions: SessionService;
  readonly storage: SessionStorage;
  readonly newId: IdGenerator;
  /** Says when approvals expire. */
  readonly clock: Clock;
  /** How long a turn lasts after its process died. */
  readonly turnTtlMs: number;
  /** How often waiting runs look for what signals missed. */
  readonly pollMs: number;
  /** How long a queue waits for a process that does not take its turn. */
  readonly graceMs: number;
  readonly onError: (error: unknown) => void;
  readonly onRunFailure: (failure: AgentFailedError) => void;
  /** Saves partial events. Undefined if they are not to be saved. */
  readonly partials: PartialFlusher | undefined;
  /** Aborts when this instance begins to close: it hands over its runs, or soon will. */
  readonly draining: AbortSignal;
}

const SEPARATOR = '/';

/** The holder of a turn: the process, and the invocation that it runs. */
export function holderOf(invocationId: string): string {
  const end = SEPARATOR + invocationId;
  const room = MAX_ID_BYTES - Buffer.byteLength(end);
  return (
    Buffer.from(`${hostname().replaceAll(SEPARATOR, '-')}:${process.pid}`)
      .subarray(0, room)
      .toString() + end
  );
}

/**
 * The invocation that runs in a turn, if it is one of `AgentSessions`.
 *
 * @example const invocationId = runningInvocation(await sessions.getTurn(key));
 */
export function runningInvocation(turn: Pick<TurnHolder, 'holder'> | undefined): string | undefined {
  if (!turn) return undefined;
  const { holder } = turn;
  const place = holder.indexOf(SEPARATOR);
  return place < 0 ? undefined : holder.slice(place + 1);
}
