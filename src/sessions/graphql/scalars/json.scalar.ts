import { GraphQLError, GraphQLScalarType, Kind, type ObjectValueNode, type ValueNode } from 'graphql';

/** More than anybody may store; a literal is walked level by level, and the stack has an end. */
const MAX_DEPTH = 500;

type Variables = Readonly<Record<string, unknown>> | null | undefined;

/** Any JSON value, as it is. What may be in it is for the rules of sessions to say, as it is everywhere. */
export const JSON_SCALAR = new GraphQLScalarType<unknown, unknown>({
  name: 'JSON',
  description: 'Any JSON value, as it is: keys, their order and numbers come back as they went in.',
  parseValue: (value) => value,
  parseLiteral: (node, variables) => valueOf(node, variables, 1),
});

function valueOf(node: ValueNode, variables: Variables, depth: number): unknown {
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
      return node.values.map((item) => valueOf(item, variables, depth + 1));
    case Kind.OBJECT:
      return objectOf(node, variables, depth);
    case Kind.VARIABLE:
      return variables && Object.hasOwn(variables, node.name.value) ? variables[node.name.value] : undefined;
    case Kind.ENUM:
      throw new GraphQLError(`JSON has no ${node.value}; write a text in quotes`, { nodes: node });
  }
}

/** Without a prototype, so that a key such as `__proto__` is one like any other. */
function objectOf({ fields }: ObjectValueNode, variables: Variables, depth: number): Record<string, unknown> {
  const object = Object.create(null) as Record<string, unknown>;
  for (const { name, value } of fields) object[name.value] = valueOf(value, variables, depth + 1);
  return object;
}
