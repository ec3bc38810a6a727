import type { IncomingMessage } from 'node:http';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  type ValidationRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { tooMuch } from './limits/limit-rules.js';

interface LiveSettings {
  readonly rules: readonly ValidationRule[];
  readonly maxTokens: number;
  readonly maxStreams: number;
  /** Origins of pages that may connect, besides the server's own. */
  readonly origins: readonly string[];
}

/** What is used of a connection of graphql-ws. */
export interface LiveConnection {
  readonly extra: unknown;
  readonly subscriptions: Readonly<Record<string, unknown>>;
}

export interface LiveResult {
  readonly data?: unknown;
  readonly errors?: readonly GraphQLError[] | undefined;
}

/** Options for graphql-ws, which knows nothing of the rules that its HTTP neighbour goes by. */
export function liveConnections({ rules, maxTokens, maxStreams, origins }: LiveSettings) {
  const read = (text: string): DocumentNode => parse(text, { maxTokens });
  return {
    /** Browsers let any page connect, with the cookies of the server; so pages of other origins need leave. */
    onConnect: ({ extra }: Pick<LiveConnection, 'extra'>): boolean =>
      isWelcome((extra as { request: IncomingMessage }).request, origins),

    /** An answer for what would else close the connection, and all that goes on over it. */
    onSubscribe({ subscriptions }: LiveConnection, _id: string, { query }: { query: string }) {
      if (Object.keys(subscriptions).length > maxStreams) {
        return [tooMuch(`There are ${maxStreams} operations on this connection already; end one first.`)];
      }
      try {
        read(query);
        return undefined;
      } catch (error) {
        return [withCode('GRAPHQL_PARSE_FAILED', error)];
      }
    },

    /** What is wrong with variables is found when an operation begins, and then it has no data at all. */
    onNext: (_connection: unknown, _id: string, _message: unknown, _asked: unknown, { data, errors }: LiveResult) =>
      data === undefined && errors
        ? { errors: errors.map((error) => withCode('BAD_USER_INPUT', error).toJSON()) }
        : undefined,

    parse: read,

    validate: (schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] =>
      validate(schema, document, [...specifiedRules, ...rules]).map((error) =>
        withCode('GRAPHQL_VALIDATION_FAILED', error),
      ),
  };
}

function isWelcome({ headers: { origin, host } }: IncomingMessage, origins: readonly string[]): boolean {
  if (origin === undefined || origins.includes(origin)) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}

/** As a server over HTTP names it. */
function withCode(code: string, error: unknown): GraphQLError {
  if (error instanceof GraphQLError) {
    const { message, nodes, source, positions, extensions } = error;
    return new GraphQLError(message, { nodes, source, positions, extensions: { code, status: 400, ...extensions } });
  }
  return new GraphQLError('The document cannot be read.', { extensions: { code, status: 400 } });
}
