import type { IncomingMessage } from 'node:http';
import { NoSchemaIntrospectionCustomRule } from 'graphql';
import { checkOptions } from '../domain/values/given-options.js';
import { formatGraphqlError } from './graphql-errors.js';
import { DocumentCache } from './limits/document-cache.js';
import { answerPlugin } from './limits/document-answer.js';
import { type GraphqlLimits, graphqlLimits } from './limits/graphql-limits.js';
import { sessionsLimitRules, textLimitPlugin } from './limits/document-limits.js';
import { graphqlWsOptions } from './connections/graphql-ws-options.js';

/** Options of {@link sessionsGraphqlOptions}. */
export interface SessionsGraphqlServerOptions {
  readonly limits?: Partial<GraphqlLimits> | undefined;
  /** Whether to allow introspection. Default: not in production. */
  readonly introspection?: boolean | undefined;
  /** Origins that may open WebSockets, besides the server's own. */
  readonly origins?: readonly string[] | undefined;
  /** The client address for `maxConnectionsPerAddress` and `maxBufferedBytes`. Default: the address of the socket. */
  readonly addressOf?: ((request: IncomingMessage) => string) | undefined;
}

/**
 * Options for `GraphQLModule.forRoot` with limits for documents over HTTP and graphql-ws. They are for Apollo. With another
 * server, use `validationRules` and `subscriptions`.
 *
 * @example
 * GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, ...sessionsGraphqlOptions() });
 */
export function sessionsGraphqlOptions(options: SessionsGraphqlServerOptions = {}) {
  checkOptions('sessionsGraphqlOptions', options, {
    limits: 'object?',
    introspection: 'flag?',
    origins: 'texts?',
    addressOf: 'function?',
  });
  const { limits, introspection, origins = [], addressOf = ({ socket }) => socket.remoteAddress ?? '' } = options;
  const all = graphqlLimits(limits);
  const isSchemaOpen = introspection ?? process.env.NODE_ENV !== 'production';
  const rules = sessionsLimitRules(limits);
  const subscriptionRules = isSchemaOpen ? rules : [...rules, NoSchemaIntrospectionCustomRule];
  return {
    autoSchemaFile: true,
    introspection: isSchemaOpen,
    validationRules: rules,
    parseOptions: { maxTokens: all.maxTokens },
    /** Add your own plugins: `plugins: [...options.plugins, yours]`. */
    plugins: [textLimitPlugin(all.maxTextBytes), answerPlugin(all, addressOf)],
    documentStore: new DocumentCache(),
    allowBatchedHttpRequests: false,
    csrfPrevention: true,
    /** Off: any client could fill the memory with documents. */
    persistedQueries: false as const,
    formatError: formatGraphqlError,
    includeStacktraceInErrorResponses: false,
    /** Off: its page loads from other hosts. Use the explorer of `SessionsGraphqlModule`. */
    graphiql: false,
    subscriptions: { 'graphql-ws': graphqlWsOptions({ rules: subscriptionRules, limits: all, origins, addressOf }) },
  };
}
