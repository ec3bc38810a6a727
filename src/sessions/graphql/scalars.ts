import { GraphQLError, GraphQLScalarType, Kind, type ObjectValueNode, type ValueNode } from 'graphql';

/** More than may be stored. The walk of a literal is recursive. */
const MAX_DEPTH = 500;

type Variables = Readonly<Record<string, unknown>> | null | undefined;

/** Any JSON value, unchanged. The domain rules validate its content. */
export const JSON_SCALAR = new GraphQLScalarType<unknown, unknown>({
  name: 'JSON',
  description: 'Any JSON value, unchanged: keys, their order and numbers are kept.',
  parseValue: (value) => value,
  parseLiteral: (node, variables) => parseLiteralValue(node, variables, 1),
});

function parseLiteralValue(node: ValueNode, variables: Variables, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new GraphQLError('is nested too deeply; send it as a variable', { nodes: node });
  switch (node.kind) {
    case Kind.STRING:
    case Kind.BOOLEAN:
      return node.value;
    case Kind.INT:
    case Kind.FLOAT:
      return Number(node.value);
    case Kind.NULL:
      return null;
    case Kind.LIST:
      return node.values.map((item) => parseLiteralValue(item, variables, depth + 1));
    case Kind.OBJECT:
      return parseLiteralObject(node, variables, depth);
    case Kind.VARIABLE:
      return variables && Object.hasOwn(variables, node.name.value) ? variables[node.name.value] : undefined;
    case Kind.ENUM:
      throw new GraphQLError(`JSON has no ${node.value}; write a text in quotes`, { nodes: node });
  }
}

/** Without a prototype, so that `__proto__` is an ordinary key. */
function parseLiteralObject({ fields }: ObjectValueNode, variables: Variables, depth: number): Record<string, unknown> {
  const object = Object.create(null) as Record<string, unknown>;
  for (const { name, value } of fields) object[name.value] = parseLiteralValue(value, variables, depth + 1);
  return object;
}

/** `Int` has 32 bits, which is too small for milliseconds. */
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
