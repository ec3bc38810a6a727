import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';

/** `Int` has 32 bits, which times in milliseconds do not fit into. */
export const SAFE_INT_SCALAR = new GraphQLScalarType<number, number>({
  name: 'SafeInt',
  description:
    'A whole number that JavaScript holds exactly: from -(2^53 - 1) to 2^53 - 1. Times are epoch milliseconds.',
  serialize: safeInteger,
  parseValue: safeInteger,
  parseLiteral(node) {
    if (node.kind === Kind.INT) return safeInteger(Number(node.value));
    throw new GraphQLError('must be a whole number', { nodes: node });
  },
});

function safeInteger(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw new GraphQLError('must be a whole number from -(2^53 - 1) to 2^53 - 1');
}
