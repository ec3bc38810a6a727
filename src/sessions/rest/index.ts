export { AccessGuard, Needs } from './access.guard.js';
export { ProblemFilter } from './problem.filter.js';
export { type Problem, problemOf } from '../faces/problems.js';
export { type AccessRequest, OpenAccess, SessionAccess, type SessionAction } from '../faces/session-access.js';
export { SessionsRestModule, type SessionsRestOptions } from './sessions-rest.module.js';
export { answerUnreadable } from '../faces/unanswerable.js';
export { SESSIONS_BODY_LIMIT } from '../faces/body-limit.js';
export { FASTIFY_OPTIONS } from './server-options.js';
export type { SessionView } from '../faces/session-view.js';
