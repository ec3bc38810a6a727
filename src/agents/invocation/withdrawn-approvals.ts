import {
  EventConflictError,
  SessionNotFoundError,
  StaleSessionError,
  TurnHeldError,
  TurnLostError,
  TurnRequiredError,
} from '../../sessions/domain/errors/errors.js';
import type { EventInput } from '../../sessions/domain/event/event.js';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import { isInRanges } from '../../sessions/domain/values/seq-ranges.js';
import { type Session, referenceTo } from '../../sessions/domain/session/session.js';
import { retryOvertaken } from '../../sessions/domain/process/retry-overtaken.js';
import { type AgentEnvironment, holderOf } from '../turn/agent-environment.js';
import { refusalEvent } from './approval-answers.js';
import { type ApprovalMark, approvalMarksIn, isAskedBy, withoutApprovals } from './approval-requests.js';
import { stopEvent, withdrawnApprovalsEvent } from '../turn/control-events.js';
import { InvocationEnd } from './invocation-end.js';
import { storedInvocation } from '../turn/stored-invocation.js';

/**
 * Takes back what an invocation asks, and ends it, in one commit. The answers that it stores keep others out: who answers at the
 * same time finds them. Returns whether it waited. Throws if somebody else wrote in between: see {@link untilNotOvertaken}.
 */
export async function withdrawApprovals(
  env: AgentEnvironment,
  key: SessionKey,
  invocationId: string,
): Promise<boolean> {
  const session = await env.sessions.getSession({ ...key, config: { numRecentEvents: 0 } });
  if (!session) throw new SessionNotFoundError(key.sessionId);
  const asked = [...approvalMarksIn(key.sessionId, session.metadata)].filter((each) =>
    isAskedBy(invocationId)(...each),
  );
  if (asked.length === 0) return false;
  const events = await createWithdrawalEvents(env, key, asked);
  await append(env, session, withoutApprovals(events, session, isAskedBy(invocationId)), invocationId);
  return true;
}

async function createWithdrawalEvents(
  env: AgentEnvironment,
  key: SessionKey,
  asked: readonly (readonly [approvalId: string, mark: ApprovalMark])[],
): Promise<EventInput[]> {
  const [[, mark] = []] = asked;
  if (!mark) return [];
  const { invocationId, messageSeq, agentName, runBy = agentName } = mark;
  const { events, rewound } = await storedInvocation(env, key, messageSeq);
  const kept = events.filter(({ seq }) => !isInRanges(seq, rewound));
  if (kept.length === 0) return [withdrawnApprovalsEvent()];
  const end = new InvocationEnd(runBy, kept);
  const answers = asked.map(([approvalId]) => refusalEvent(approvalId, 'withdrawn', mark));
  return [stopEvent({ invocationId }), ...answers, ...end.closing(invocationId, 'stopped')];
}

/** Without a turn, because the one of another invocation may be held; in a turn if the session accepts nothing else. */
async function append(
  { sessions, turnTtlMs }: AgentEnvironment,
  session: Session,
  events: readonly EventInput[],
  invocationId: string,
): Promise<void> {
  const { appName, userId, id: sessionId, version: expectedVersion } = session;
  const commit = { session: referenceTo({ appName, userId, sessionId }), events, expectedVersion };
  try {
    await sessions.appendEvents(commit);
  } catch (error) {
    if (!(error instanceof TurnRequiredError)) throw error;
    const turn = { appName, userId, sessionId, holder: holderOf(invocationId), ttlMs: turnTtlMs };
    await sessions.withTurn(turn, async (held) => sessions.appendEvents({ ...commit, turn: held, endTurn: true }));
  }
}

/** Repeats the work if another write came first, so that everything has to be looked at again. */
export async function untilNotOvertaken<Result>(work: () => Promise<Result>): Promise<Result> {
  return retryOvertaken(work, isOvertaken);
}

function isOvertaken(error: unknown): boolean {
  const kinds = [StaleSessionError, EventConflictError, TurnLostError, TurnHeldError];
  return kinds.some((kind) => error instanceof kind);
}
