export { SESSIONS_BODY_LIMIT } from '../faces/body-limit.js';
export { type AccessRequest, OpenAccess, SessionAccess, type SessionAction } from '../faces/session-access.js';
export type { SubscriptionRequest } from './asker.js';
export type { ExplorerOptions } from './explorer/explorer-options.js';
export { DEFAULT_GRAPHQL_LIMITS, type GraphqlLimits } from './limits/graphql-limits.js';
export { sessionsLimitRules } from './limits/limit-rules.js';
export { SessionsGraphqlModule, type SessionsGraphqlOptions } from './sessions-graphql.module.js';
export { sessionsGraphqlOptions, type SessionsGraphqlServerOptions } from './sessions-graphql-options.js';
