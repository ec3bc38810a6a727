export { InvalidInputError, LimitExceededError } from '../sessions/domain/errors.js';
export { ProblemError } from './problem-error.js';
export type {
  AppendBatchRequest,
  AppendRequest,
  CreateRequest,
  RemoteAppend,
  RemoteBatch,
  RemoteKey,
  RemoteListRequest,
  RemoteOwner,
  RemotePage,
  RemoteSession,
  RemoteSummary,
  StateChange,
  SummaryListRequest,
  SummaryRequest,
} from './remote-types.js';
export type { RequestsOptions as SessionsClientOptions } from './requests.js';
export { SessionsClient } from './sessions-client.js';
