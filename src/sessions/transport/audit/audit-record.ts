import type { IncomingHttpHeaders } from 'node:http';
import { HttpException } from '@nestjs/common';
import { SessionsError } from '../../domain/errors.js';
import { SignedInUser } from '../../auth/signed-in-user.js';
import type { AccessPreset } from '../../../config/auth-settings.js';
import { type AccessQuestion, HiddenDeletion } from '../access-refusals.js';
import { userNoted } from '../client-address.js';
import type { AccessRequest } from '../session-access.js';

/** Who asked for what, and whether the access rule allowed it. It has ids and names, and never what was said or stored. */
export interface AuditRecord {
  /** In epoch milliseconds, by the clock of the process. */
  readonly at: number;
  /** `failed`: the rule could not be asked, or gave no answer. */
  readonly outcome: 'allowed' | 'refused' | 'failed';
  /** Of a refusal or a failure: the code of the problem that the caller gets. */
  readonly code?: string | undefined;
  /** The name of the operation, or of the handler; missing where an adapter asks by itself. */
  readonly operation?: string | undefined;
  readonly action: AccessRequest['action'];
  readonly target: AccessRequest['target'];
  readonly appName?: string | undefined;
  /** The owner of what is asked for. */
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** Who asks. Missing if nobody is signed in. */
  readonly by?: { readonly id: string; readonly preset?: AccessPreset } | undefined;
  /** From `X-Request-Id`, if it is a plain one. */
  readonly requestId?: string | undefined;
  /** From `traceparent`. */
  readonly traceId?: string | undefined;
}

/** What is asked, for a record. */
export interface AuditQuestion extends Pick<AccessQuestion, 'action' | 'target' | 'userId' | 'sessionId' | 'request'> {
  readonly appName?: string | undefined;
  readonly operation?: string | undefined;
}

const MOST_CHARACTERS = 200;

/**
 * The record of a question that was answered.
 *
 * @param error why it was not allowed, if it was not
 */
export function auditRecord(
  { operation, action, target, appName, userId, sessionId, request }: AuditQuestion,
  at: number,
  error?: unknown,
): AuditRecord {
  const [code, outcome] = error === undefined ? ([undefined, 'allowed'] as const) : refusalIn(error);
  const user = userNoted(request);
  const record: AuditRecord = {
    at,
    outcome,
    code,
    operation,
    action,
    target,
    appName: shortened(appName),
    userId: shortened(userId),
    sessionId: shortened(sessionId),
    by: user && { id: user.id, ...(user instanceof SignedInUser && { preset: user.preset }) },
    ...idsIn(request),
  };
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as object as AuditRecord;
}

const CODES: Readonly<Record<number, string>> = { 401: 'UNAUTHENTICATED', 403: 'FORBIDDEN' };

function refusalIn(error: unknown): readonly [code: string, outcome: AuditRecord['outcome']] {
  if (error instanceof HiddenDeletion) return ['FORBIDDEN', 'refused'];
  if (error instanceof SessionsError) return [error.code, error.status < 500 ? 'refused' : 'failed'];
  const status = error instanceof HttpException ? error.getStatus() : 500;
  return [CODES[status] ?? 'INTERNAL', status < 500 ? 'refused' : 'failed'];
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
