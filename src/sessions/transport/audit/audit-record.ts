import { isRecord } from '../../../config/setting.js';
import type { IncomingHttpHeaders } from 'node:http';
import { SignedInUser } from '../../auth/signed-in-user.js';
import type { AccessPreset } from '../../../config/auth-settings.js';
import { type AccessQuestion, HiddenDeletion } from '../access-refusals.js';
import { userNoted } from '../client-address.js';
import { problemOf } from '../problems.js';
import type { AccessRequest } from '../session-access.js';

/** Who asked for what, and what came of it. It has ids and names, and never what was said or stored. */
export interface AuditRecord {
  /** In epoch milliseconds, by the clock of the process. */
  readonly at: number;
  /**
   * `done`; `refused` by the access rule; `failed`: allowed and not done, or the rule gave no answer; `allowed`: it has begun, and what came of
   * it is another record, or not known.
   */
  readonly outcome: 'done' | 'allowed' | 'refused' | 'failed';
  /** Of a refusal or a failure: the code of the problem that the caller gets. */
  readonly code?: string | undefined;
  /** The same in the record of the beginning and that of the end, where there are both. */
  readonly callId?: string | undefined;
  /** The name of the operation, of the handler or of the command; missing where an adapter asks by itself. */
  readonly operation?: string | undefined;
  /** What the rule was asked. Missing with `from`, where there is none. */
  readonly action?: AccessRequest['action'] | undefined;
  readonly target?: AccessRequest['target'] | undefined;
  readonly appName?: string | undefined;
  /** The owner of what is asked for. */
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** Who asks. Missing if nobody is signed in. */
  readonly by?: Asker | undefined;
  /** From `X-Request-Id`, if it is a plain one. */
  readonly requestId?: string | undefined;
  /** From `traceparent`. */
  readonly traceId?: string | undefined;
}

/** Who asks: whoever sends a request; code of the app, by a name of its own; or on the command line, the user of the machine. */
interface Asker {
  readonly id: string;
  readonly preset?: AccessPreset;
  readonly from?: 'code' | 'cli';
}

/** What is asked, for a record. */
export interface AuditQuestion extends Partial<
  Pick<AccessQuestion, 'appName' | 'action' | 'target' | 'userId' | 'sessionId' | 'request'>
> {
  readonly operation?: string | undefined;
  /** Default: who has sent the request. */
  readonly by?: Asker | undefined;
}

/** What is known of the answer. */
export type AuditAnswer = Pick<AuditRecord, 'outcome' | 'code' | 'callId'>;

const MOST_CHARACTERS = 200;

/** The record of a question that was answered. */
export function auditRecord(
  { operation, action, target, appName, userId, sessionId, request, by = askerOf(request) }: AuditQuestion,
  answer: AuditAnswer,
): AuditRecord {
  const ids = { appName: shortened(appName), userId: shortened(userId), sessionId: shortened(sessionId) };
  const record: AuditRecord = { at: Date.now(), ...answer, operation, action, target, ...ids, by, ...idsIn(request) };
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as object as AuditRecord;
}

/** The answer of a rule that did not allow. */
export function refusalIn(error: unknown): AuditAnswer {
  if (error instanceof HiddenDeletion) return { outcome: 'refused', code: 'FORBIDDEN' };
  const { status, code } = problemOf(error);
  return { outcome: status < 500 ? 'refused' : 'failed', code };
}

function codeOfGraphql(error: unknown): string | undefined {
  if (!isRecord(error) || !isRecord(error.extensions)) return undefined;
  const { code } = error.extensions;
  return typeof code === 'string' ? code : undefined;
}

/** What came of what was allowed. */
export function endIn(outcome: AuditAnswer['outcome'], error?: unknown): AuditAnswer {
  if (error === undefined) return { outcome };
  return { outcome, code: codeOfGraphql(error) ?? problemOf(error).code };
}

function askerOf(request: unknown): AuditRecord['by'] {
  const user = userNoted(request);
  return user && { id: user.id, ...(user instanceof SignedInUser && { preset: user.preset }) };
}

/** Nobody has checked ids before the rule is asked. */
function shortened(id: string | undefined): string | undefined {
  return id?.slice(0, MOST_CHARACTERS);
}

const PLAIN_ID = /^[\w.:-]{1,100}$/;
const TRACE_PARENT = /^[\da-f]{2}-([\da-f]{32})-/;

function idsIn(request: unknown): Pick<AuditRecord, 'requestId' | 'traceId'> {
  const { headers = {} } = (request ?? {}) as { readonly headers?: IncomingHttpHeaders };
  const [asked, parent] = [headers['x-request-id'], headers.traceparent].map((header) => [header].flat()[0] ?? '');
  return { requestId: PLAIN_ID.exec(asked ?? '')?.[0], traceId: TRACE_PARENT.exec(parent ?? '')?.[1] };
}
