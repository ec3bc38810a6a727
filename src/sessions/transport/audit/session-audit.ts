import { Inject, Injectable } from '@nestjs/common';
import { fieldNames, requestCheck } from '../../domain/values/request-fields.js';
import { assertId } from '../../domain/values/ids.js';
import { AuditTrail } from './audit-trail.js';

/** What code does, and in whose name. It has ids and names, and no content. */
export interface CallByCode {
  /** Who does it, such as the name of a job. */
  readonly by: string;
  /** What is done, such as `eraseUser`. */
  readonly operation: string;
  readonly appName?: string | undefined;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
}

const checked = requestCheck({
  call: fieldNames<CallByCode>({ by: true, operation: true, appName: true, userId: true, sessionId: true }),
});

/**
 * Notes what code of the app does, where nobody asks the access rule. `SessionAccessModule` provides it; without its `audit`, nothing is
 * noted.
 *
 * @example
 * constructor(private readonly sessions: SessionService, private readonly audit: SessionAudit) {}
 *
 * async forget(user: UserKey): Promise<void> {
 *   await this.audit.call({ by: 'forget-job', operation: 'eraseUser', ...user }, () => this.sessions.eraseUser(user));
 * }
 */
@Injectable()
export class SessionAudit {
  constructor(@Inject(AuditTrail) private readonly trail: AuditTrail) {}

  /** Calls `work`, and notes what came of it. With `onFailure: 'refuse'`, it is not called unless that it begins is written. */
  async call<Result>(call: CallByCode, work: () => Promise<Result>): Promise<Result> {
    const { by, operation, appName, userId, sessionId } = checked('call', call);
    assertId(by, 'by');
    assertId(operation, 'operation');
    return this.trail.call({ by: { id: by, from: 'code' }, operation, appName, userId, sessionId }, work);
  }
}
