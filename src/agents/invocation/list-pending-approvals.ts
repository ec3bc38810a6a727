import { ByteBudget, jsonBytes } from '../../sessions/domain/stored/byte-budget.js';
import { SessionNotFoundError } from '../../sessions/domain/errors/errors.js';
import { isByUser } from '../../sessions/domain/event/event-inspection.js';
import { type SessionKey, type UserKey } from '../../sessions/domain/values/ids.js';
import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import type { Session } from '../../sessions/domain/session/session.js';
import type { SessionFilter } from '../../sessions/domain/metadata/session-filter.js';
import { environmentBehind } from '../../sessions/service-environment.js';
import { cursorAfter } from '../../sessions/operations/list-sessions.js';
import type { SessionService } from '../../sessions/session.service.js';
import {
  type ApprovalMark,
  type AskedQuestion,
  PENDING_FILTER,
  type PendingApproval,
  approvalMarksIn,
  isExpired,
  questionsIn,
} from './approval-requests.js';

/** The approvals to list: of a user or, without `userId`, of an app. */
export interface PendingApprovalsRequest extends Pick<UserKey, 'appName'> {
  readonly userId?: string | undefined;
  /** Sessions per page. Default 100, at most 1,000. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** Only those of sessions whose metadata has all of this. */
  readonly filter?: SessionFilter | undefined;
}

/** A page of pending approvals. */
export interface PendingApprovalPage {
  readonly approvals: readonly PendingApproval[];
  readonly nextCursor?: string;
}

/** A page of approvals, with what each asks. It ends early if that is large. */
export async function listPendingApprovals(
  sessions: SessionService,
  { appName, userId, limit, cursor, filter: within }: PendingApprovalsRequest,
): Promise<PendingApprovalPage> {
  const env = environmentBehind(sessions);
  const filters = { filter: PENDING_FILTER, within };
  const page = await sessions.listSessions({ appName, userId, limit, cursor, ...filters, includeState: false });
  const budget = new ByteBudget(env.limits.maxPageBytes);
  const approvals: PendingApproval[] = [];
  let last: Session | undefined;
  for (const session of page.sessions) {
    const found = await pendingIn(sessions, session);
    if (found.length > 0 && !budget.take(jsonBytes(found))) {
      return { approvals, ...(last && { nextCursor: cursorAfter(last, env, filters) }) };
    }
    approvals.push(...found);
    last = session;
  }
  return { approvals, ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }) };
}

/** The approvals of a session that can still be answered. */
function answerableMarks(
  sessions: SessionService,
  { id, metadata }: Pick<Session, 'id' | 'metadata'>,
): Map<string, ApprovalMark> {
  const now = environmentBehind(sessions).clock.now();
  return new Map([...approvalMarksIn(id, metadata)].filter(([, mark]) => !isExpired(mark, now)));
}

/**
 * The same with what is asked, as far as the view of the session shows it.
 *
 * @example const interrupts = approvalsIn(sessions, session).map(({ approvalId, hint }) => ({ id: approvalId, hint }));
 */
export function approvalsIn(sessions: SessionService, session: Session): PendingApproval[] {
  return withQuestions(session, answerableMarks(sessions, session), new Map(questionsAsked(session.events)));
}

/** A message of the user asks for nothing, whatever it holds. */
function questionsAsked(events: readonly LoggedEvent[]): ReturnType<typeof questionsIn> {
  return events.filter((event) => !isByUser(event)).flatMap(questionsIn);
}

function withQuestions(
  { appName, userId }: Session,
  marks: ReadonlyMap<string, ApprovalMark>,
  questions: ReadonlyMap<string, AskedQuestion>,
): PendingApproval[] {
  return [...marks].map(([approvalId, { runBy: _runBy, ...mark }]) => ({
    appName,
    userId,
    approvalId,
    ...mark,
    ...questions.get(approvalId),
  }));
}

async function pendingIn(sessions: SessionService, session: Session): Promise<PendingApproval[]> {
  const { appName, userId, id: sessionId } = session;
  const marks = answerableMarks(sessions, session);
  const questions = new Map<string, AskedQuestion>();
  for (const invocationId of new Set([...marks.values()].map((mark) => mark.invocationId))) {
    const ids = [...marks].flatMap(([id, mark]) => (mark.invocationId === invocationId ? [id] : []));
    for (const found of await questionsOf(sessions, { appName, userId, sessionId }, invocationId, ids)) {
      questions.set(...found);
    }
  }
  return withQuestions(session, marks, questions);
}

/** What an invocation asked last, from its newest events on. Nothing if it is no longer in the log. */
async function questionsOf(
  sessions: SessionService,
  key: SessionKey,
  invocationId: string,
  ids: readonly string[],
): Promise<Map<string, AskedQuestion>> {
  const missing = new Set(ids);
  const found = new Map<string, AskedQuestion>();
  let cursor: string | undefined;
  try {
    do {
      const page = await sessions.listEvents({ ...key, invocationId, order: 'desc', limit: 20, cursor });
      for (const [id, question] of questionsAsked(page.events)) {
        if (missing.delete(id)) found.set(id, question);
      }
      cursor = page.nextCursor;
    } while (missing.size > 0 && cursor !== undefined);
  } catch (error) {
    // It was deleted after it was listed.
    if (!(error instanceof SessionNotFoundError)) throw error;
  }
  return found;
}
