import { InvalidInputError } from '../sessions/domain/errors/errors.js';
import { type StandardSchema, isStandardSchema } from './standard-schema.js';

/** What {@link serverOnly} returns: a schema for `defineState`, with the types of the one that it marks. */
export interface ServerOnlySchema<Schema extends StandardSchema = StandardSchema> extends StandardSchema {
  readonly '~standard': Schema['~standard'];
}

class MarkedSchema<Schema extends StandardSchema> implements ServerOnlySchema<Schema> {
  constructor(readonly schema: Schema) {}

  get '~standard'(): Schema['~standard'] {
    return this.schema['~standard'];
  }
}

/**
 * Marks a key of `defineState` that the server alone writes: clients may read it, and their requests that set or remove it are refused
 * with 403, over REST, GraphQL and the routes of agents. Code of the server writes it as any other key.
 *
 * @example
 * const shopState = defineState({ step: z.number(), 'user:role': serverOnly(z.enum(['customer', 'staff'])) });
 */
export function serverOnly<Schema extends StandardSchema>(schema: Schema): ServerOnlySchema<Schema> {
  if (isStandardSchema(schema)) return new MarkedSchema(schema);
  throw new InvalidInputError('must be a Standard Schema, such as a schema of zod, valibot or arktype', 'serverOnly');
}

/** The schema that is marked, if it is. */
export function serverOnlySchema(schema: StandardSchema): StandardSchema | undefined {
  return schema instanceof MarkedSchema ? (schema.schema as StandardSchema) : undefined;
}
