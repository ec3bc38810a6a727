/**
 * A schema of any library that implements Standard Schema (https://standardschema.dev): zod, valibot, arktype and
 * others.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
  };
}

export type SchemaResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

/** What a schema found wrong, and where. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type of values that a schema returns. */
export type SchemaOutput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'];

/** The type of values that a schema accepts. */
export type SchemaInput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['input'];

/** Validates with a schema that answers at once: state is checked in the middle of a write. */
export function validateWith<Output>(schema: StandardSchema<unknown, Output>, value: unknown): SchemaResult<Output> {
  const result = schema['~standard'].validate(value);
  if (!(result instanceof Promise)) return result;
  // Its outcome has no reader, so a rejection would end the process.
  result.catch(() => undefined);
  throw new TypeError(
    `A schema of ${schema['~standard'].vendor} validates asynchronously. Use one that answers at once.`,
  );
}
