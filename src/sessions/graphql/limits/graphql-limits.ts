/** What a document may ask for at most. */
export interface GraphqlLimits {
  /** Fields and fragments inside each other. */
  readonly maxDepth: number;
  /** Fields under another name. */
  readonly maxAliases: number;
  /** Fields of the answer: those of a list count as often as `first` or `numRecentEvents` says. */
  readonly maxComplexity: number;
  /**
   * Words and signs of the text. GraphQL compares fields of the same name with each other, so what it does for a text grows
   * with the square of it; values of any size are sent as variables.
   */
  readonly maxTokens: number;
  /** Operations under way on one connection of graphql-ws. */
  readonly maxStreams: number;
}

/** Room for what explorers ask of the schema, and for a full page of whole events. */
export const DEFAULT_GRAPHQL_LIMITS: GraphqlLimits = {
  maxDepth: 20,
  maxAliases: 30,
  maxComplexity: 20_000,
  maxTokens: 1_000,
  maxStreams: 100,
};
