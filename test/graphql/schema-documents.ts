import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
} from 'graphql';

export type Kind = 'query' | 'mutation' | 'subscription';

/** All fields of queries, mutations and subscriptions, with their kind. */
export function fieldsOf(schema: GraphQLSchema): Readonly<Record<string, Kind>> {
  const kinds = {
    query: schema.getQueryType(),
    mutation: schema.getMutationType(),
    subscription: schema.getSubscriptionType(),
  } as const;
  return Object.fromEntries(
    Object.entries(kinds).flatMap(([kind, type]) =>
      Object.keys(type?.getFields() ?? {}).map((name) => [name, kind as Kind] as const),
    ),
  );
}

/** The fields to select of some types. Of the other types, all are selected. */
export type Selection = Readonly<Record<string, readonly string[]>>;

/** A document with one field, all its arguments as variables, and the fields below it. */
export function documentOf(schema: GraphQLSchema, name: string, only: Selection = {}): string {
  const kind = fieldsOf(schema)[name] ?? 'query';
  const field = rootField(schema, name);
  const declared: GraphQLArgument[] = [];
  const asked = `${calledWith(field, declared)}${selectionOf(field.type, only, declared)}`;
  const variables = [...new Map(declared.map((argument) => [argument.name, String(argument.type)]))];
  const named = variables.map(([argument, type]) => `$${argument}: ${type}`).join(', ');
  return `${kind} ${named && `(${named})`} { ${asked} }`;
}

/** The arguments of a field. */
export function argumentsOf(schema: GraphQLSchema, name: string): readonly GraphQLArgument[] {
  return rootField(schema, name).args;
}

export function rootField(schema: GraphQLSchema, name: string): GraphQLField<unknown, unknown> {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const field = roots.map((type) => type?.getFields()[name]).find((each) => each !== undefined);
  if (!field) throw new Error(`The schema has no field ${name}`);
  return field;
}

function calledWith({ name, args }: GraphQLField<unknown, unknown>, declared: GraphQLArgument[]): string {
  declared.push(...args);
  return args.length === 0 ? name : `${name}(${args.map((each) => `${each.name}: $${each.name}`).join(', ')})`;
}

function selectionOf(type: GraphQLOutputType, only: Selection, declared: GraphQLArgument[]): string {
  const named = getNamedType(type);
  if (!isObjectType(named)) return '';
  const fields = Object.values(named.getFields()).filter(({ name }) => only[named.name]?.includes(name) ?? true);
  const selected = fields.map((field) => `${calledWith(field, declared)}${selectionOf(field.type, only, declared)}`);
  return ` { ${selected.join(' ')} }`;
}
