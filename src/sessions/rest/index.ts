export { AccessGuard } from './access.guard.js';
export { LargeAnswer, OpensStream } from './answer.interceptor.js';
export { ProblemFilter } from './problem.filter.js';
export { type Problem, problemOf } from '../transport/problems.js';
export * from '../transport/access-exports.js';
export { SessionsRestModule, type SessionsRestOptions } from './sessions-rest.module.js';
export { answerMalformedHttp } from '../transport/malformed-http.js';
export { SESSIONS_BODY_LIMIT, pageHeaders } from '../transport/http-defaults.js';
export { type BodyLimitOptions, limitBodies } from '../transport/limit-bodies.js';
export { FASTIFY_OPTIONS } from './server-options.js';
export type { SessionView } from '../domain/session/session.js';
export { type CrossSiteOptions, protectFromOtherSites } from '../transport/cross-site.js';
// For routes of adapters, under the same rules.
export { ApiEventStream, ApiProblem, ApiProblems } from './api-responses.js';
export { Exchange } from './http-exchange.js';
export { type SentEvents, sendEvents } from './sent-events.js';
export { JsonBody, type RoutesOptions, routesModule, SessionRoutes } from './session-routes.js';
