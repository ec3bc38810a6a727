// The access API, exported by all transports.
export type { AccessPreset, ApiKeyOptions, JwtOptions } from '../../config/auth-settings.js';
export { IssuerUnavailableError, NotSignedInError } from '../auth/auth-errors.js';
export type { AuthOptions } from '../auth/auth-options.js';
export type { SignInRequest } from '../auth/credentials.js';
export { SignedInUser } from '../auth/signed-in-user.js';
export { type WriteDescription, describeWrite } from '../domain/write/write-description.js';
export { type ClientWrites, isClientWrite } from '../domain/write/client-writes.js';
export type { AuditOptions, AuditSink } from './audit/audit-options.js';
export type { AuditRecord } from './audit/audit-record.js';
export { type AuditQuery, readAudit } from './audit/audit-table.js';
export { type CallByCode, SessionAudit } from './audit/session-audit.js';
export { AccessFilter } from './access-filter.js';
export {
  type AccessAnswer,
  type AccessRequest,
  type AccessUser,
  OpenAccess,
  RequireAccess,
  SessionAccess,
  type SessionAction,
} from './session-access.js';
export type { ClientAccessOptions, RoleAccessOptions, UserOptions } from './access-options.js';
export {
  accessByPreset,
  accessByRole,
  clientAccess,
  readonlyAccess,
  serviceAccess,
  supportAccess,
} from './access-rules.js';
export {
  type AsyncSessionAccessOptions,
  SessionAccessModule,
  type SessionAccessOptions,
} from './session-access.module.js';
export type { StreamLimits } from './stream-limits.js';
