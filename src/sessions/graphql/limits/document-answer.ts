import type { IncomingMessage, ServerResponse } from 'node:http';
import { type DocumentNode, GraphQLError, type GraphQLSchema } from 'graphql';
import { NoRoomError, RETRY_AFTER_SECONDS, reserveAnswer } from '../../transport/answers.js';
import { clientOf } from '../../transport/client-address.js';
import { requestOf } from '../access.guard.js';
import { graphqlErrorOf } from '../graphql-errors.js';
import { DocumentCost } from './document-cost.js';
import type { GraphqlLimits } from './graphql-limits.js';

/** The expected maximum size of a list entry: an event of the default `maxEventBytes`. */
const ENTRY_BYTES = 1_048_576;

interface Operation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
}

/** The most bytes that the answer to a document may have. */
export function mostBytesOf(
  { schema, document }: Operation,
  { maxDepth, maxAnswerBytes }: Pick<GraphqlLimits, 'maxDepth' | 'maxAnswerBytes'>,
): number {
  return Math.min(maxAnswerBytes, Math.max(1, DocumentCost.of(schema, document, maxDepth).items) * ENTRY_BYTES);
}

/** The part of an Apollo request that is used here. */
interface ResolvedOperation extends Operation {
  readonly contextValue: object;
}

/** The part of an Apollo plugin that is used here. */
export interface AnswerPlugin {
  requestDidStart(): Promise<{ didResolveOperation(operation: ResolvedOperation): Promise<void> }>;
}

type Limits = Pick<GraphqlLimits, 'maxDepth' | 'maxAnswerBytes' | 'maxBufferedBytes' | 'stallSeconds'>;

/** An Apollo plugin that reserves the memory of an answer over HTTP before the document is executed. */
export function answerPlugin(limits: Limits, addressOf: (request: IncomingMessage) => string): AnswerPlugin {
  const reserve = async ({ contextValue, ...operation }: ResolvedOperation): Promise<void> => {
    const request = requestOf(contextValue) as HttpRequest | undefined;
    const response = request && responseTo(request);
    if (!response) return;
    const client = clientOf(request, addressOf(request.raw ?? request));
    try {
      await reserveAnswer({ response, client, bytes: mostBytesOf(operation, limits), limits });
    } catch (error) {
      throw refusalOf(error);
    }
  };
  return { requestDidStart: async () => ({ didResolveOperation: reserve }) };
}

/** A request of Express or Fastify. */
interface HttpRequest extends IncomingMessage {
  /** Of Fastify. */
  readonly raw?: IncomingMessage;
  /** Of Express. */
  readonly res?: ServerResponse;
}

/** Fastify's request does not know its response, but Node's socket does. */
function responseTo({ res, socket }: HttpRequest): ServerResponse | undefined {
  return res ?? (Reflect.get(socket ?? {}, '_httpMessage') as ServerResponse | null) ?? undefined;
}

function refusalOf(error: unknown): GraphQLError {
  const { message, extensions } = graphqlErrorOf(error);
  const headers = new Map(error instanceof NoRoomError ? [['retry-after', RETRY_AFTER_SECONDS]] : []);
  // Apollo removes `http` from the response.
  return new GraphQLError(message, { extensions: { ...extensions, http: { status: extensions.status, headers } } });
}
