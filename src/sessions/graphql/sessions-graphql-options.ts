import { NoSchemaIntrospectionCustomRule } from 'graphql';
import { formatGraphqlError } from './graphql-errors.js';
import { DEFAULT_GRAPHQL_LIMITS, type GraphqlLimits } from './limits/graphql-limits.js';
import { sessionsLimitRules } from './limits/limit-rules.js';
import { liveConnections } from './live-connections.js';

/** What a GraphQL server allows its clients. */
export interface SessionsGraphqlServerOptions {
  readonly limits?: Partial<GraphqlLimits> | undefined;
  /** Whether clients may ask for the schema; in production only if this says so. */
  readonly introspection?: boolean | undefined;
  /** Origins of pages that may open connections for subscriptions, besides the server's own. */
  readonly origins?: readonly string[] | undefined;
}

/**
 * Options for `GraphQLModule.forRoot` under which documents have limits, over HTTP and over graphql-ws. They are made for
 * Apollo; of another server's options, `validationRules` and `subscriptions` are what to look for.
 *
 * @example
 * GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, ...sessionsGraphqlOptions() });
 */
export function sessionsGraphqlOptions({ limits, introspection, origins = [] }: SessionsGraphqlServerOptions = {}) {
  const { maxTokens, maxStreams } = { ...DEFAULT_GRAPHQL_LIMITS, ...limits };
  const isSchemaOpen = introspection ?? process.env.NODE_ENV !== 'production';
  const rules = sessionsLimitRules(limits);
  const liveRules = isSchemaOpen ? rules : [...rules, NoSchemaIntrospectionCustomRule];
  return {
    autoSchemaFile: true,
    introspection: isSchemaOpen,
    validationRules: rules,
    parseOptions: { maxTokens },
    allowBatchedHttpRequests: false,
    csrfPrevention: true,
    /** Documents are sent as they are: what a hash stands for would be kept in memory for whoever sends it. */
    persistedQueries: false as const,
    formatError: formatGraphqlError,
    includeStacktraceInErrorResponses: false,
    /** Its page loads from other hosts; `SessionsGraphqlModule` has one that does not. */
    graphiql: false,
    subscriptions: { 'graphql-ws': liveConnections({ rules: liveRules, maxTokens, maxStreams, origins }) },
  };
}
