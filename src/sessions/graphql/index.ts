export { SESSIONS_BODY_LIMIT } from '../transport/http-defaults.js';
export { type BodyLimitOptions, limitBodies } from '../transport/limit-bodies.js';
export * from '../transport/access-exports.js';
export { GraphqlAccessGuard, type SubscriptionRequest } from './access.guard.js';
export type { ExplorerOptions } from './explorer/explorer.module.js';
export { DEFAULT_GRAPHQL_LIMITS, type GraphqlLimits } from './limits/graphql-limits.js';
export { sessionsLimitRules } from './limits/document-limits.js';
export { SessionsGraphqlModule, type SessionsGraphqlOptions } from './sessions-graphql.module.js';
export { sessionsGraphqlOptions, type SessionsGraphqlServerOptions } from './sessions-graphql-options.js';
