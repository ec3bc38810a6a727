/** Parts of a JSON Schema, as OpenAPI has them. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** One of some texts. */
export interface Choice {
  readonly name: string;
  readonly description: string;
  readonly values: readonly string[];
}

/**
 * A field of a request or of a result. The faces derive from it how it is checked and documented: as a property in OpenAPI, as a field
 * or an argument in GraphQL.
 */
export interface Field {
  readonly kind: 'text' | 'integer' | 'number' | 'flag' | 'json' | 'choice' | 'list' | 'shape';
  readonly description?: string | undefined;
  /** More about it, for OpenAPI. Bounds of whole numbers in a body are checked as well, unless that is done later. */
  readonly schema: JsonSchema;
  readonly isOptional?: boolean;
  /** Only this face has it. */
  readonly only?: 'rest' | 'graphql';
  /** What a list has, and what a shape is. In GraphQL, JSON has no shape. */
  readonly of?: Field | Shape;
  readonly choice?: Choice;
  /** The rules of sessions check the bounds of a whole number, and say what is wrong. */
  readonly isCheckedLater?: boolean;
  /** GraphQL has 32 bits for it, and a value if it is missing. */
  readonly int32?: { readonly default?: number };
}

export type Fields = Readonly<Record<string, Field>>;

/** An object with a name. `Value` is what an operation returns for it. */
export interface Shape<Value = never> {
  readonly name: string;
  readonly description?: string | undefined;
  readonly fields: Fields;
  readonly example?: unknown;
  /** Whether it may have other fields. */
  readonly isOpen?: boolean;
  /** Where the name in GraphQL is another one. */
  readonly graphqlName?: string;
  /** What GraphQL shows of a value. Default: the value. */
  readonly node?: (value: Value) => unknown;
  /** What REST answers. Default: the value. */
  readonly view?: (value: Value) => unknown;
  /** The field with the items of a page. In GraphQL, a page has `nodes` and `pageInfo` instead. */
  readonly items?: string;
}

/** The fields that a shape of this type must have. */
export type FieldsOf<Value> = { readonly [Name in keyof Value]-?: Field } & Fields;

/**
 * Describes an object once, for all faces. The type check knows if a field of `Shown` is missing.
 *
 * @example
 * const HOLDER = shape<TurnHolder>('TurnHolder', {
 *   description: 'Who holds the turn of a session.',
 *   fields: { holder: text('Who holds the turn.'), number: integer('Counts the turns.'), expiresAt: integer() },
 * });
 */
export function shape<Shown, Value = Shown>(
  name: string,
  parts: Omit<Shape<Value>, 'name' | 'fields'> & { readonly fields: FieldsOf<Shown> },
): Shape<Value> {
  return { name, ...parts };
}

export const text = (description?: string, schema: JsonSchema = {}): Field => ({ kind: 'text', description, schema });

/** A whole number that is not negative. */
export const integer = (description?: string, schema: JsonSchema = {}): Field => ({
  kind: 'integer',
  description,
  schema: { minimum: 0, ...schema },
});

export const number = (description?: string): Field => ({ kind: 'number', description, schema: {} });

export const flag = (description?: string, schema: JsonSchema = {}): Field => ({ kind: 'flag', description, schema });

/** A value that is kept as it is. The rules of sessions check it. */
export const json = (description?: string, schema: JsonSchema = ANY_OBJECT): Field => ({
  kind: 'json',
  description,
  schema,
});

export const choice = (from: Choice, description: string, schema: JsonSchema = {}): Field => ({
  kind: 'choice',
  choice: from,
  description,
  schema,
});

export const listOf = (of: Field | Shape, description?: string, schema: JsonSchema = {}): Field => ({
  kind: 'list',
  of,
  description,
  schema,
});

export const one = (of: Shape, description?: string): Field => ({ kind: 'shape', of, description, schema: {} });

/** In OpenAPI a value of this shape, in GraphQL a JSON value. */
export const jsonOf = (of: Shape, description?: string, schema: JsonSchema = {}): Field => ({
  kind: 'json',
  of,
  description,
  schema,
});

export const optional = (field: Field): Field => ({ ...field, isOptional: true });
export const restOnly = (field: Field): Field => ({ ...field, only: 'rest' });
export const graphqlOnly = (field: Field): Field => ({ ...field, only: 'graphql' });
export const checkedLater = (field: Field): Field => ({ ...field, isCheckedLater: true });

export const ANY_OBJECT = { type: 'object', additionalProperties: true } as const;

/** The fields that a face has. */
export function fieldsOn(face: 'rest' | 'graphql', fields: Fields): [string, Field][] {
  return Object.entries(fields).filter(([, { only = face }]) => only === face);
}

/** Whether it is a shape, and not a field. */
export function isShape(of: Field | Shape): of is Shape {
  return 'fields' in of;
}
