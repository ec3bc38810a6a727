import { setTimeout as delay } from 'node:timers/promises';
import { SessionNotFoundError, TurnHeldError } from '../../sessions/domain/errors/errors.js';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import { environmentBehind } from '../../sessions/service-environment.js';
import type { SessionService } from '../../sessions/session.service.js';
import {
  ApprovalAnsweredError,
  ApprovalExpiredError,
  ApprovalNotFoundError,
  ApprovalWithdrawnError,
} from '../errors/approval-errors.js';
import { AgentsClosingError } from '../errors/closing-error.js';
import { PENDING_FILTER, approvalMarksIn, isExpired } from '../invocation/approval-requests.js';
import type { AnswerRequest, RunRequest } from './run-request.js';

/** In how many sessions agents begin to go on at once. */
const MAX_SESSIONS = 10;

/** Whose approvals may have expired: of a user or, without `userId`, of an app. */
export interface ExpireApprovalsRequest extends Pick<
  RunRequest,
  'appName' | 'outputKey' | 'outputSchema' | 'onMismatch'
> {
  readonly userId?: string | undefined;
}

/** A request that nobody answered in time. */
type ExpiredApproval = SessionKey & Pick<AnswerRequest, 'approvalId'>;

/** The requests that have expired, and whose agents have not gone on yet, by session. */
export async function* expiredApprovals(
  sessions: SessionService,
  { appName, userId }: Pick<ExpireApprovalsRequest, 'appName' | 'userId'>,
): AsyncGenerator<ExpiredApproval[], void> {
  const { clock } = environmentBehind(sessions);
  let cursor: string | undefined;
  do {
    const page = await sessions.listSessions({ appName, userId, cursor, filter: PENDING_FILTER, includeState: false });
    for (const { userId: owner, id: sessionId, metadata } of page.sessions) {
      const expired = [...approvalMarksIn(sessionId, metadata)].filter(([, mark]) => isExpired(mark, clock.now()));
      if (expired.length === 0) continue;
      yield expired.map(([approvalId]) => ({ appName, userId: owner, sessionId, approvalId }));
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

/**
 * Lets agents go on in several sessions at once. The next ones wait for each, but not for handlers that hang.
 *
 * @param graceMs how long they wait
 * @param goOn returns how often one went on
 */
export async function expireAll(
  found: AsyncIterable<readonly ExpiredApproval[]>,
  graceMs: number,
  goOn: (place: ExpiredApproval) => Promise<number>,
): Promise<number> {
  const going = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let times = 0;
  const expire = async (places: readonly ExpiredApproval[]): Promise<void> => {
    for (const place of places) {
      const ended = new AbortController();
      const late = delay(graceMs, 1, { signal: ended.signal, ref: false });
      const result = await Promise.race([goOn(place), late]).finally(() => ended.abort());
      times += result;
    }
  };
  for await (const places of found) {
    const work = expire(places)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => going.delete(work));
    going.add(work);
    if (going.size >= MAX_SESSIONS) await Promise.race(going);
  }
  await Promise.all(going);
  if (failures.length > 0) throw failures[0];
  return times;
}

const OVERTAKEN = [
  AgentsClosingError,
  TurnHeldError,
  SessionNotFoundError,
  ApprovalAnsweredError,
  ApprovalExpiredError,
  ApprovalNotFoundError,
  ApprovalWithdrawnError,
];

/** Whether somebody else was faster, or works on the session, so that there is nothing to do now. */
export function isLeftToOthers(error: unknown): boolean {
  return OVERTAKEN.some((kind) => error instanceof kind);
}
