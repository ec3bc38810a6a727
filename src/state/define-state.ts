import { InvalidInputError } from '../sessions/domain/errors/errors.js';
import { isTempKey } from './scopes.js';
import { serverOnlySchema } from './server-only.js';
import {
  type SchemaInput,
  type SchemaIssue,
  type StandardSchema,
  isStandardSchema,
  jsonSchemaOf,
  validateWith,
} from './standard-schema.js';
import type { State } from './state.js';

/** Schemas by state key, with the prefix of its scope. */
export type StateSchemas = Readonly<Record<string, StandardSchema>>;

/** The values that schemas describe. Every key may be missing. */
export type StateValues<Schemas extends StateSchemas> = {
  -readonly [Key in keyof Schemas]?: SchemaInput<Schemas[Key]>;
};

/** The methods of a `State` whose keys and values have types. */
export interface TypedStateMethods<Values> {
  get<Key extends keyof Values>(key: Key): Values[Key] | undefined;
  get<Key extends keyof Values>(key: Key, fallback: NonNullable<Values[Key]>): NonNullable<Values[Key]>;
  set<Key extends keyof Values>(key: Key, value: Values[Key]): void;
  has(key: keyof Values): boolean;
  delete(key: keyof Values): boolean;
  update(delta: Values): void;
  getAll(): Values;
  toRecord(): Values;
  toJSON(): Values;
  hasDelta(): boolean;
}

/** The `State` of a session, with types. */
export type TypedState<Schemas extends StateSchemas> = Omit<StateValues<Schemas>, keyof TypedStateMethods<unknown>> &
  TypedStateMethods<StateValues<Schemas>>;

/** What {@link defineState} takes beside the schemas. */
export interface DefineStateOptions {
  /** Whether other keys may be written. Default: `refuse`. Keys with `temp:` always may. */
  readonly otherKeys?: 'allow' | 'refuse' | undefined;
  /** JSON Schemas by key, for schemas of libraries that give none. They only describe. */
  readonly jsonSchemas?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
}

/** A value that does not fit its schema, or a key that has none. */
export interface StateProblem {
  readonly key: string;
  /** Where in the value. */
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/**
 * The keys of a state, and the schemas of their values: {@link defineState} makes it.
 *
 * @example const shopState = defineState({ step: z.number() });
 */
export class StateDefinition<Schemas extends StateSchemas = StateSchemas> {
  readonly #schemas = new Map<string, StandardSchema>();
  readonly #serverOnly = new Set<string>();
  readonly #options: DefineStateOptions;

  constructor(schemas: Schemas, options: DefineStateOptions = {}) {
    assertObject(schemas, 'schemas');
    checkOptions(options, schemas);
    this.#options = options;
    for (const [key, schema] of Object.entries(schemas)) {
      if (!isStandardSchema(schema)) {
        throw new InvalidInputError('must be a Standard Schema, such as a schema of zod, valibot or arktype', key);
      }
      const marked = serverOnlySchema(schema);
      if (marked) this.#serverOnly.add(key);
      this.#schemas.set(key, marked ?? schema);
    }
  }

  /** Whether clients must not write the key: see `serverOnly`. */
  isServerOnly(key: string): boolean {
    return this.#serverOnly.has(key);
  }

  /** The state of the session with types. It is the same object. */
  of({ state }: { readonly state: State }): TypedState<Schemas> {
    return state as unknown as TypedState<Schemas>;
  }

  /** The first value that must not be written, if there is one. Throws a `TypeError` if a schema answers later. */
  problemIn(stateDelta: Readonly<Record<string, unknown>>): StateProblem | undefined {
    for (const [key, value] of Object.entries(stateDelta)) {
      const problem = this.#problemOf(key, value);
      if (problem) return problem;
    }
    return undefined;
  }

  /** The JSON Schema of states. A key whose library gives none accepts all values in it. */
  jsonSchema(): Record<string, unknown> {
    const { jsonSchemas = {}, otherKeys } = this.#options;
    const properties = [...this.#schemas].map(([key, schema]) => [key, jsonSchemas[key] ?? jsonSchemaOf(schema) ?? {}]);
    return {
      type: 'object',
      properties: Object.fromEntries(properties) as Record<string, unknown>,
      additionalProperties: otherKeys === 'allow',
    };
  }

  #problemOf(key: string, value: unknown): StateProblem | undefined {
    const schema = this.#schemas.get(key);
    if (!schema) {
      if (this.#options.otherKeys === 'allow' || isTempKey(key)) return undefined;
      return { key, path: [], message: `is not defined; the state has ${this.#names()}` };
    }
    const [issue] = validateWith(schema, value).issues ?? [];
    return issue && { key, path: toIssuePath(issue), message: withoutValue(issue.message) };
  }

  #names(): string {
    const names = [...this.#schemas.keys()];
    const shown = names.slice(0, 10).map((name) => JSON.stringify(name));
    return [...shown, ...(names.length > 10 ? [`${names.length - 10} more`] : [])].join(', ') || 'no keys';
  }
}

/**
 * Defines the keys of a state and their values, by schemas of zod, valibot, arktype or another library with Standard
 * Schema. As option `state` of the module, writes are checked by it, also those of REST and GraphQL.
 *
 * @example
 * const shopState = defineState({ step: z.number(), 'user:theme': z.enum(['light', 'dark']) });
 * SessionsModule.forRoot({ provider: 'memory', state: shopState });
 * shopState.of(session).step; // number | undefined
 */
export function defineState<const Schemas extends StateSchemas>(
  schemas: Schemas,
  options?: DefineStateOptions,
): StateDefinition<Schemas> {
  return new StateDefinition(schemas, options);
}

/** One definition for all apps, or one for each app by its name. */
export type StateDefinitions = StateDefinition | Readonly<Record<string, StateDefinition>>;

/** The definition for an app, if it has one. */
export function definitionFor(definitions: StateDefinitions, appName: string): StateDefinition | undefined {
  if (definitions instanceof StateDefinition) return definitions;
  return Object.hasOwn(definitions, appName) ? definitions[appName] : undefined;
}

const OPTIONS = { otherKeys: true, jsonSchemas: true } satisfies Record<keyof DefineStateOptions, true>;

/** What is misspelled would have no effect. */
function checkOptions(options: DefineStateOptions, schemas: object): void {
  assertObject(options, 'options');
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(OPTIONS, name));
  if (unknown !== undefined) {
    throw new InvalidInputError(`is no option; there are ${Object.keys(OPTIONS).join(' and ')}`, unknown);
  }
  const { otherKeys, jsonSchemas = {} } = options;
  if (otherKeys !== undefined && otherKeys !== 'allow' && otherKeys !== 'refuse') {
    throw new InvalidInputError('must be allow or refuse', 'otherKeys');
  }
  assertObject(jsonSchemas, 'jsonSchemas');
  const without = Object.keys(jsonSchemas).find((key) => !Object.hasOwn(schemas, key));
  if (without !== undefined) throw new InvalidInputError('is not among the schemas', `jsonSchemas.${without}`);
}

function assertObject(value: unknown, name: string): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw new InvalidInputError('must be an object', name);
}

/** `path` may be a subclass of Array, whose `map` makes another one. */
function toIssuePath({ path = [] }: SchemaIssue): PropertyKey[] {
  return Array.from(path, (segment) => (typeof segment === 'object' ? segment.key : segment));
}

/** Messages must not repeat the input: those of arktype end with "(was …)", those of valibot with "but received …". */
function withoutValue(message: string): string {
  const end = message.search(/ \(was | but received /);
  return end === -1 ? message : message.slice(0, end);
}
