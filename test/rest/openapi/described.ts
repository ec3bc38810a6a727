import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Answer as Given } from '../rest-app.js';

interface Reference {
  readonly $ref: string;
}

interface Schema {
  readonly properties?: Readonly<Record<string, object>>;
  readonly example?: unknown;
}

interface MediaType {
  readonly schema: Schema | Reference;
  readonly example?: unknown;
}

interface Body {
  readonly content?: Readonly<Record<string, MediaType>>;
}

interface Answer extends Body {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly required?: boolean; readonly schema: object }>>;
}

export interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: object;
    readonly example?: unknown;
  }[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Answer>>;
}

/** The part of an OpenAPI document that the tests read. */
export interface ApiDocument {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Headers that the document must describe. */
const MEANT = ['cache-control', 'etag', 'link', 'location', 'idempotent-replayed', 'retry-after'];

export interface DescribedOperation {
  /** `GET /apps/{appName}/state` */
  readonly route: string;
  readonly operation: Operation;
}

/** An OpenAPI document, to validate responses against. */
export class Described {
  readonly #ajv: Ajv2020;
  /** To compile a schema takes longer than to validate with it. */
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(readonly document: ApiDocument) {
    this.#ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true, inlineRefs: false });
    addFormats.default(this.#ajv);
    // Keywords of OpenAPI that do not validate.
    this.#ajv.addVocabulary(['example', 'openapi', 'info', 'tags', 'paths', 'components', 'servers']);
    this.#ajv.addSchema({ $id: 'https://test/document', ...document }, undefined, undefined, false);
  }

  get operations(): DescribedOperation[] {
    return Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ route: `${method.toUpperCase()} ${path}`, operation })),
    );
  }

  operation(id: string): DescribedOperation {
    const found = this.operations.find(({ operation }) => operation.operationId === id);
    if (!found) throw new Error(`There is no operation ${id}`);
    return found;
  }

  /** The example of a body: its own, or that of its schema. */
  exampleOf({ schema, example }: MediaType): unknown {
    return example ?? this.resolved<Schema>(schema).example;
  }

  /** The differences between a response and its description. */
  problemsOf({ route, operation }: DescribedOperation, given: Given): string[] {
    const described = operation.responses[String(given.status)];
    if (!described) return [`${route}: ${given.status} is not described`];
    return [...this.#headerProblems(described, given), ...this.#bodyProblems(described, given)].map(
      (problem) => `${route} ${given.status}: ${problem}`,
    );
  }

  /** The validation errors of a value. */
  valueProblems(schema: object, value: unknown): string[] {
    const text = JSON.stringify(schema).replaceAll('"#/', '"https://test/document#/');
    const validate = this.#validators.get(text) ?? this.#ajv.compile(JSON.parse(text) as object);
    this.#validators.set(text, validate);
    return validate(value)
      ? []
      : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }

  resolved<Part>(part: unknown): Part {
    const reference = (part as { $ref?: string }).$ref;
    if (reference === undefined) return part as Part;
    const steps = reference.replace('#/', '').split('/');
    const found = steps.reduce<unknown>(
      (at, step) => (at as Record<string, unknown> | undefined)?.[step],
      this.document,
    );
    if (found === undefined) throw new Error(`${reference} does not exist`);
    return found as Part;
  }

  /** A schema, merged with the schemas of its `allOf`. */
  merged({ allOf = [], ...own }: { readonly allOf?: readonly object[] }): object {
    return Object.assign({}, ...allOf.map((part) => this.resolved<object>(part)), own);
  }

  #headerProblems({ headers = {} }: Answer, given: Given): string[] {
    const described = Object.entries(headers).map(([name, header]) => [name.toLowerCase(), header] as const);
    const names = new Set(described.map(([name]) => name));
    const unknown = MEANT.filter((name) => given.headers.has(name) && !names.has(name));
    return [
      ...unknown.map((name) => `the header ${name} is not described`),
      ...described.flatMap(([name, { required, schema }]) => {
        const value = given.headers.get(name);
        if (value === null) return required ? [`the header ${name} is missing`] : [];
        return this.valueProblems(schema, value).map((problem) => `the header ${name} ${problem}`);
      }),
    ];
  }

  #bodyProblems({ content }: Answer, given: Given): string[] {
    if (content === undefined) return given.text === '' ? [] : ['there should be no body'];
    const type = given.headers.get('content-type')?.split(';')[0] ?? 'none';
    const media = content[type];
    if (!media) return [`the content type ${type} is not described`];
    return type.endsWith('json') ? this.valueProblems(media.schema, given.body) : [];
  }
}
