import { ConfigurationError } from '../../../config/configuration-error.js';
import { problemsOfOptions } from '../../../config/option-checks.js';
import { kindOf } from '../../../config/setting.js';
import { withDefaults } from '../../../config/with-defaults.js';
import { DEFAULT_STREAM_LIMITS } from '../../transport/stream-limits.js';
import { SESSIONS_BODY_LIMIT } from '../../transport/http-defaults.js';
import { GraphQLError } from 'graphql';

/** The limits of documents, responses and connections. */
export interface GraphqlLimits {
  /**
   * Bytes of the text of a document, including comments. Checked before parsing. Also those of the id, variables and extensions of a
   * subscription, which are kept until it ends. Default: 65,536.
   */
  readonly maxTextBytes: number;
  /** Nested fields and fragments. Default: 20. */
  readonly maxDepth: number;
  /** Fields with an alias. Default: 30. */
  readonly maxAliases: number;
  /**
   * Fields of the response. Those of a list count once per `first` or `numRecentEvents`. A list without a number counts as the
   * largest page. Default: 20,000.
   */
  readonly maxComplexity: number;
  /**
   * Tokens of the text. Validation compares fields of the same name with each other, so its time grows with the square. Send
   * large values as variables. Default: 1,000.
   */
  readonly maxTokens: number;
  /** Events and sessions over all fields. Counted in the document and again in the response. Default: 10,000. */
  readonly maxItems: number;
  /** Bytes of events and state in one response, over all fields. Default: 8,388,608. */
  readonly maxAnswerBytes: number;
  /** Concurrent operations on one connection of graphql-ws. Default: 100. */
  readonly maxStreams: number;
  /** Bytes of one message of graphql-ws. A longer one closes the connection with code 1009. Default: 4,194,304. */
  readonly maxMessageBytes: number;
  /** Bytes that a connection may send before its `connection_init` is accepted. More close it with code 1009. Default: 65,536. */
  readonly maxHandshakeBytes: number;
  /** How long to wait for `connection_init`. Then the connection is closed with code 4408. Default: 5. */
  readonly handshakeSeconds: number;
  /** Connections of graphql-ws. One more is refused with status 503. 0 = no limit. Default: 1,000. */
  readonly maxConnections: number;
  /**
   * Connections of graphql-ws from one address. One more is refused with status 429. Default: 0 = no limit. Behind a proxy, set
   * `addressOf` too: otherwise all connections have its address.
   */
  readonly maxConnectionsPerAddress: number;
  /** A connection that reads no waiting data for so long is closed, a WebSocket with code 1013. 0 = never. Default: 60. */
  readonly stallSeconds: number;
  /**
   * Bytes that all answers hold in the process, of GraphQL, REST and live streams. An address may have a quarter, or one answer.
   * Others wait, and then a connection has 5 seconds to read. 0 = no limit. Default: 67,108,864.
   */
  readonly maxBufferedBytes: number;
}

/** The limits of connections. */
export type ConnectionLimits = Pick<
  GraphqlLimits,
  'maxMessageBytes' | 'maxHandshakeBytes' | 'maxConnections' | 'maxConnectionsPerAddress' | 'stallSeconds'
>;

/** Enough for the introspection of explorers, and for a full page of whole events. */
export const DEFAULT_GRAPHQL_LIMITS: GraphqlLimits = {
  maxTextBytes: 65_536,
  maxDepth: 20,
  maxAliases: 30,
  maxComplexity: 20_000,
  maxTokens: 1_000,
  maxItems: 10_000,
  maxAnswerBytes: 8_388_608,
  maxStreams: 100,
  maxMessageBytes: SESSIONS_BODY_LIMIT,
  maxHandshakeBytes: 65_536,
  handshakeSeconds: 5,
  maxConnections: 1_000,
  maxConnectionsPerAddress: 0,
  stallSeconds: 60,
  maxBufferedBytes: DEFAULT_STREAM_LIMITS.maxBufferedBytes,
};

const LIMIT = { kind: kindOf('a number from 0 on', (value) => typeof value === 'number' && value >= 0) };
const LIMITS = Object.fromEntries(Object.keys(DEFAULT_GRAPHQL_LIMITS).map((name) => [name, LIMIT]));

/** Fills in the defaults. */
export function graphqlLimits(given: Partial<GraphqlLimits> = {}): GraphqlLimits {
  const problems = problemsOfOptions(given, LIMITS, 'limits.');
  if (problems.length > 0) throw new ConfigurationError(problems);
  return withDefaults<GraphqlLimits>(given, DEFAULT_GRAPHQL_LIMITS);
}

/** An error with the code `LIMIT_EXCEEDED`. */
export function limitError(problem: string): GraphQLError {
  return new GraphQLError(problem, { extensions: { code: 'LIMIT_EXCEEDED', status: 413 } });
}
