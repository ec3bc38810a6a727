// The access API, exported by all transports.
export { type ClientWrites, type WriteDescription, describeWrite, isClientWrite } from '../domain/write-description.js';
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
export {
  type ClientAccessOptions,
  type RoleAccessOptions,
  type UserOptions,
  accessByRole,
  clientAccess,
  serviceAccess,
} from './access-rules.js';
export {
  type AsyncSessionAccessOptions,
  SessionAccessModule,
  type SessionAccessOptions,
} from './session-access.module.js';
export type { StreamLimits } from './stream-access.js';
