import type { Session } from '../../sessions/domain/session/session.js';
import { isInRanges } from '../../sessions/domain/values/seq-ranges.js';
import type { HeldTurn } from '../../sessions/operations/turns.js';
import type { StandardSchema } from '../../state/standard-schema.js';
import { ApprovalExpiredError, ApprovalNotFoundError } from '../errors/approval-errors.js';
import {
  answerEvent,
  answerNoteOf,
  answeredError,
  answersIn,
  checkedAnswer,
  refusalEvent,
} from '../invocation/approval-answers.js';
import { formatApprovalAnswerId } from '../invocation/approval-ids.js';
import { approvalMarksIn, isExpired, questionsIn, withoutApprovals } from '../invocation/approval-requests.js';
import type { GivenApproval } from '../invocation/invocation-approvals.js';
import type { AgentEnvironment } from '../turn/agent-environment.js';
import { withdrawnApprovalsEvent } from '../turn/control-events.js';
import { type StoredInvocation, findEventOf } from '../turn/stored-invocation.js';
import { type DueRun, isSameContent } from './due-run.js';
import type { GivenAnswer } from './run-request.js';

/** How an invocation goes on. */
export interface Continuation {
  /** The caller knows the events up to here. */
  readonly afterSeq?: number;
  /** Starts again with this answer. */
  readonly given?: GivenApproval;
  readonly agentName?: string;
}

/** Where an invocation asked, and how it goes on now that it is answered. */
interface AnsweredApproval extends Continuation {
  readonly messageSeq: number;
  /** Who answered learns that it was refused before. */
  readonly tooLate?: ApprovalExpiredError | undefined;
}

/** A pending approval gets its answer, or a refusal if it has expired. One that is answered already has to have the same answer. */
export async function answeredApproval(
  env: AgentEnvironment,
  { key, invocationId }: Pick<DueRun, 'key' | 'invocationId'>,
  session: Session,
  { approvalId, content, schemas, isExpiry }: GivenAnswer,
): Promise<AnsweredApproval> {
  const mark = approvalMarksIn(session.id, session.metadata).get(approvalId);
  if (mark) {
    const isLate = isExpired(mark, env.clock.now());
    const event = isLate ? refusalEvent(approvalId, 'expired', mark) : answerEvent(approvalId, content, mark);
    const [[, answer] = []] = answersIn(event);
    if (!isLate) await checkedAnswer(answer, findToolSchema(schemas, mark.tool));
    return {
      messageSeq: mark.messageSeq,
      given: { approvalId, answer, event },
      agentName: mark.runBy ?? mark.agentName,
      tooLate: isLate && !isExpiry ? new ApprovalExpiredError(approvalId, mark.expiresAt) : undefined,
    };
  }
  const stored = await findEventOf(env, key, invocationId, formatApprovalAnswerId(approvalId));
  if (!stored) throw new ApprovalNotFoundError(approvalId);
  const { messageSeq = 0, refused } = answerNoteOf(stored) ?? {};
  if (refused !== undefined || !isSameContent(stored, content)) throw answeredError(approvalId, stored);
  return { messageSeq, afterSeq: stored.seq };
}

/** A rewind takes back what was asked, and a stop answers it. */
export async function refuseIfGone(
  env: AgentEnvironment,
  turn: HeldTurn,
  session: Session,
  { approvalId }: GivenAnswer,
  { events, rewound }: StoredInvocation,
): Promise<void> {
  // A stop may have been faster than this turn, which does not keep it out.
  const answered = events.find(({ id }) => id === formatApprovalAnswerId(approvalId));
  if (answered) throw answeredError(approvalId, answered);
  const asked = events.findLast((event) => questionsIn(event).some(([id]) => id === approvalId));
  if (!asked || !isInRanges(asked.seq, rewound)) return;
  const withdrawal = withoutApprovals([withdrawnApprovalsEvent()], session, (id) => id === approvalId);
  await env.sessions.appendEvents({ session, events: withdrawal, turn });
  throw new ApprovalNotFoundError(approvalId);
}

function findToolSchema(schemas: GivenAnswer['schemas'], tool = ''): StandardSchema | undefined {
  return schemas && Object.hasOwn(schemas, tool) ? schemas[tool] : undefined;
}
