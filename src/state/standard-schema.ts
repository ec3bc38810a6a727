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

/** What a schema answers: the value, or what is wrong with it. */
export type SchemaResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

/** What a schema found wrong, and where. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Where a schema found it, as it follows the name of the value: `.items.0.price`. */
export function issuePath({ path = [] }: SchemaIssue): string {
  return path.map((step) => `.${String(typeof step === 'object' ? step.key : step)}`).join('');
}

/** The type of values that a schema accepts. */
export type SchemaInput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['input'];

/** Whether it is a schema of a library with Standard Schema. */
export function isStandardSchema(schema: unknown): schema is StandardSchema {
  return typeof (schema as Partial<StandardSchema> | null | undefined)?.['~standard']?.validate === 'function';
}

/** Validates with a schema that answers at once: state is checked in the middle of a write. */
export function validateWith<Output>(schema: StandardSchema<unknown, Output>, value: unknown): SchemaResult<Output> {
  const { vendor } = schema['~standard'];
  const result: unknown = schema['~standard'].validate(value);
  if (typeof result !== 'object' || result === null) {
    throw new TypeError(`A schema of ${vendor} answered neither a value nor issues, as Standard Schema asks for.`);
  }
  if (!(result instanceof Promise)) return result as SchemaResult<Output>;
  // Its outcome has no reader, so a rejection would end the process. zod also tries asynchronously what has thrown.
  result.catch(() => undefined);
  throw new TypeError(
    `A schema of ${vendor} validates asynchronously, or a function in it threw. Use one that answers at once.`,
  );
}

/** What libraries offer for JSON Schema: Standard JSON Schema, or a method of their own. */
interface WithJsonSchema {
  readonly '~standard': { readonly jsonSchema?: { readonly input?: (options: { target: string }) => unknown } };
  readonly toJSONSchema?: () => unknown;
  readonly toJsonSchema?: () => unknown;
}

/** The JSON Schema of a schema, if its library gives one. */
export function jsonSchemaOf(schema: StandardSchema): Record<string, unknown> | undefined {
  const own = schema as WithJsonSchema;
  try {
    const found =
      own['~standard'].jsonSchema?.input?.({ target: 'draft-2020-12' }) ?? own.toJSONSchema?.() ?? own.toJsonSchema?.();
    if (typeof found !== 'object' || found === null) return undefined;
    const { $schema: _dialect, ...described } = found as Record<string, unknown>;
    return described;
  } catch {
    // Not every schema has one, such as one with a check in code.
    return undefined;
  }
}
