import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  OperationTypeNode,
  type ValidationRule,
  getOperationAST,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { jsonBytes } from '../../domain/stored/byte-budget.js';
import { onSignOut } from '../../transport/signed-out.js';
import { isForeignPage } from '../../transport/cross-site.js';
import { ConnectionOperations } from './connection-operations.js';
import { executeWithin } from './operation-memory.js';
import {
  acceptHandshake,
  endConnection,
  type WebSocketConnection,
  type WebSocketSettings,
  withWebSocketSettings,
} from './web-socket-server.js';
import { type GraphqlLimits, limitError } from '../limits/graphql-limits.js';
import { textProblem } from '../limits/document-limits.js';

interface GraphqlWsOptions {
  readonly rules: readonly ValidationRule[];
  readonly limits: GraphqlLimits;
  /** Allowed origins besides the server's own. */
  readonly origins: readonly string[];
  readonly addressOf: WebSocketSettings['addressOf'];
}

/** The part of a graphql-ws connection that is used here. */
export interface GraphqlWsConnection {
  readonly extra: unknown;
  readonly subscriptions: Readonly<Record<string, unknown>>;
}

export interface OperationResult {
  data?: unknown;
  readonly errors?: readonly GraphQLError[] | undefined;
}

/** What a client asks for. It is kept for as long as the operation runs. */
export interface OperationPayload {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: unknown;
  readonly extensions?: unknown;
}

/** Of graphql-ws, whose clients do not try again then. */
const SIGNED_OUT = 4401;

/** Options for graphql-ws with the same limits as HTTP. */
export function graphqlWsOptions({ rules, limits, origins, addressOf }: GraphqlWsOptions) {
  const { maxTextBytes, maxTokens, maxStreams } = limits;
  const read = (text: string): DocumentNode => parse(text, { maxTokens });
  const options = {
    connectionInitWaitTimeout: limits.handshakeSeconds * 1000,

    /** Browsers let any page connect, with the server's cookies. So other origins must be allowed. */
    onConnect: ({ extra }: Pick<GraphqlWsConnection, 'extra'>): boolean => {
      const { request, socket } = extra as { request: IncomingMessage; socket: WebSocketConnection };
      if (isForeignPage(request.headers, origins)) return false;
      acceptHandshake(request, socket);
      // Its request keeps the cookie for as long as it is open.
      socket.once(
        'close',
        onSignOut(request, () => endConnection(socket, SIGNED_OUT, 'Signed out')),
      );
      return true;
    },

    /** Returns errors that would otherwise close the connection with all its operations. */
    onSubscribe(connection: GraphqlWsConnection, id: string, payload: OperationPayload) {
      const { query, operationName } = payload;
      const operations = ConnectionOperations.of(connection);
      operations.begin(id, payload);
      const live = Object.keys(connection.subscriptions).length;
      // Those that were completed end a little later.
      if (live > maxStreams || operations.size > 2 * maxStreams) {
        return [limitError(`There are ${maxStreams} operations on this connection already; end one first.`)];
      }
      const tooLong = textProblem(query, maxTextBytes);
      if (tooLong) return [tooLong];
      try {
        const operation = getOperationAST(read(query), operationName);
        const isStream = operation?.operation === OperationTypeNode.SUBSCRIPTION;
        return isStream ? keptProblems(id, payload, maxTextBytes) : undefined;
      } catch (error) {
        return [withCode('GRAPHQL_PARSE_FAILED', error)];
      }
    },

    onOperation: (
      connection: GraphqlWsConnection,
      id: string,
      payload: OperationPayload,
      _args: unknown,
      result: unknown,
    ) => ConnectionOperations.of(connection).leaveIfReplaced(id, payload, result),

    onError: endOperation,

    onComplete: endOperation,

    /** Invalid variables are found at the start of an operation, and then there is no data. */
    async onNext(
      connection: GraphqlWsConnection,
      id: string,
      payload: OperationPayload,
      _asked: unknown,
      result: OperationResult,
    ) {
      await ConnectionOperations.of(connection).leaveIfReplaced(id, payload);
      const { data, errors } = result;
      // It is text by then. graphql-ws keeps the last result of a subscription until the next one comes.
      setImmediate(() => delete result.data);
      return data === undefined && errors
        ? { errors: errors.map((error) => withCode('BAD_USER_INPUT', error).toJSON()) }
        : undefined;
    },

    parse: read,

    execute: executeWithin(limits, addressOf),

    validate: (schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] =>
      validate(schema, document, [...specifiedRules, ...rules]).map((error) =>
        withCode('GRAPHQL_VALIDATION_FAILED', error),
      ),
  };
  return withWebSocketSettings(options, { limits, addressOf });
}

async function endOperation(connection: GraphqlWsConnection, id: string, payload: OperationPayload): Promise<void> {
  const operations = ConnectionOperations.of(connection);
  await operations.leaveIfReplaced(id, payload);
  operations.end(id, payload);
}

/** What a subscription carries is kept until it ends. */
function keptProblems(id: string, { variables, extensions }: OperationPayload, maxBytes: number) {
  const bytes = jsonBytes({ id, variables, extensions });
  if (bytes <= maxBytes) return undefined;
  return [
    limitError(`The id, variables and extensions of a subscription have ${bytes} bytes; the limit is ${maxBytes}.`),
  ];
}

/** The same code as over HTTP. */
function withCode(code: string, error: unknown): GraphQLError {
  if (error instanceof GraphQLError) {
    const { message, nodes, source, positions, extensions } = error;
    return new GraphQLError(message, { nodes, source, positions, extensions: { code, status: 400, ...extensions } });
  }
  return new GraphQLError('The document cannot be read.', { extensions: { code, status: 400 } });
}
