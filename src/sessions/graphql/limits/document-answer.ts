import type { IncomingMessage, ServerResponse } from 'node:http';
import { type DocumentNode, GraphQLError, type GraphQLSchema, Kind } from 'graphql';
import { jsonBytes } from '../../domain/stored/byte-budget.js';
import { NoRoomError, RETRY_AFTER_SECONDS, WORK_IS_DONE, reserveAnswer } from '../../transport/answers.js';
import { clientOf } from '../../transport/client-address.js';
import { findHttpRequest } from '../access.guard.js';
import { graphqlErrorOf } from '../graphql-errors.js';
import { DocumentCost } from './document-cost.js';
import type { GraphqlLimits } from './graphql-limits.js';

const OPERATION = Kind.OPERATION_DEFINITION;

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

/** Whether the document does work alone, whose answer gets memory when it is known: nobody knows how long it takes. */
export function isWork({ schema, document }: Operation, { maxDepth }: Pick<GraphqlLimits, 'maxDepth'>): boolean {
  const { isWork: hasWork, items } = DocumentCost.of(schema, document, maxDepth);
  return hasWork && items === 0 && document.definitions.filter(({ kind }) => kind === OPERATION).length === 1;
}

/** The parts of an Apollo request that are used here. */
interface ResolvedOperation extends Operation {
  readonly contextValue: object;
}

interface AnsweredOperation extends Pick<ResolvedOperation, 'schema' | 'contextValue'> {
  /** Missing if it was refused. */
  readonly document?: DocumentNode;
  readonly response: { body: unknown; readonly http: { status?: number; readonly headers: Map<string, string> } };
}

/** The part of an Apollo plugin that is used here. */
export interface AnswerPlugin {
  requestDidStart(): Promise<{
    didResolveOperation(operation: ResolvedOperation): Promise<void>;
    willSendResponse(operation: AnsweredOperation): Promise<void>;
  }>;
}

type Limits = Pick<GraphqlLimits, 'maxDepth' | 'maxAnswerBytes' | 'maxBufferedBytes' | 'stallSeconds'>;

/** An Apollo plugin that reserves the memory of an answer over HTTP before the document is executed, or when its work is done. */
export function answerPlugin(limits: Limits, addressOf: (request: IncomingMessage) => string): AnswerPlugin {
  const reserve = async (contextValue: object, bytes: number, refusal?: string): Promise<void> => {
    const request = findHttpRequest(contextValue) as HttpRequest | undefined;
    const response = request && responseTo(request);
    if (!response) return;
    const client = clientOf(request, addressOf(request.raw ?? request));
    try {
      await reserveAnswer({ response, client, bytes, limits, refusal });
    } catch (error) {
      throw toDocumentRefusal(error);
    }
  };
  const didResolveOperation = async ({ contextValue, ...operation }: ResolvedOperation): Promise<void> => {
    if (!isWork(operation, limits)) await reserve(contextValue, mostBytesOf(operation, limits));
  };
  const willSendResponse = async ({ contextValue, schema, document, response }: AnsweredOperation): Promise<void> => {
    if (!document || !isWork({ schema, document }, limits)) return;
    await reserve(contextValue, jsonBytes(response.body), WORK_IS_DONE).catch((error: GraphQLError) => {
      const { http, ...extensions } = error.extensions as Record<string, unknown> & { http: RefusedHttp };
      response.body = { kind: 'single', singleResult: { errors: [{ message: error.message, extensions }] } };
      response.http.status = http.status;
      for (const [name, value] of http.headers) response.http.headers.set(name, value);
    });
  };
  return { requestDidStart: async () => ({ didResolveOperation, willSendResponse }) };
}

interface RefusedHttp {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
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

function toDocumentRefusal(error: unknown): GraphQLError {
  const { message, extensions } = graphqlErrorOf(error);
  const headers = new Map(error instanceof NoRoomError ? [['retry-after', RETRY_AFTER_SECONDS]] : []);
  // Apollo removes `http` from the response.
  return new GraphQLError(message, { extensions: { ...extensions, http: { status: extensions.status, headers } } });
}
