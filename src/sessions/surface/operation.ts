import type { ExistingProvider, InjectionToken } from '@nestjs/common';
import type { SessionFilter } from '../domain/metadata/session-filter.js';
import type { AccessChecks } from '../transport/access-checks.js';
import type { AccessRequirement } from '../transport/session-access.js';
import type { Field, Fields, JsonSchema, Shape } from './shape.js';

/** What an operation is called with, beside its request. */
export interface Call<Services> {
  readonly services: Services;
  readonly access: AccessChecks;
  /** The request of the framework, which the access rule sees. */
  readonly request: unknown;
  /** The filter of the access rule, for an operation that is filtered. */
  readonly within: SessionFilter | undefined;
}

/** The answer of a route. */
export interface Reply {
  setStatus(status: number): void;
  setHeader(name: string, value: string): void;
  tagVersion(version: number): void;
}

/** The request of a route. */
export interface Asked {
  header(name: string): string | undefined;
}

export interface ProblemDescription {
  readonly description: string;
  readonly code: string;
}

/** A response header in OpenAPI. */
export interface ResponseHeader {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

/** A further answer of a route. */
export interface OtherAnswer {
  readonly status: number;
  readonly description: string;
  readonly result?: Shape | Field;
  readonly anyOf?: readonly Shape[];
  readonly example?: unknown;
  readonly headers?: Readonly<Record<string, ResponseHeader>>;
}

/** How REST shows an operation. */
export interface Route<Request = never, Result = never, Prepared = unknown> {
  /** The method and the path, with the ids as its parameters, such as `GET apps/:appName/state`. */
  readonly at: string;
  /** Default: 201 for POST, 204 without a result, else 200. */
  readonly status?: number;
  /** What the answer is, for the docs. */
  readonly answers: string;
  readonly example?: unknown;
  /** The name of the body in the docs; with `shape`, the body is one value of it, and the field `is` of the request. */
  readonly body?: {
    readonly name: string;
    readonly description?: string;
    readonly example: unknown;
    readonly is?: string;
    readonly shape?: Shape;
  };
  /** What the answer may hold: the body of the request, what the work wrote, a stream, or little. Default: a view or a page. */
  readonly holds?: 'its body' | 'what it did' | 'a stream' | 'little';
  /** Request headers, for the docs. */
  readonly takes?: readonly { readonly name: string; readonly description: string; readonly schema: JsonSchema }[];
  /** Changes the request, from headers of its own or where the query has other fields. */
  readonly prepare?: (request: never, asked: Asked) => Prepared;
  /** The error for a result that is not there. Default: 204. */
  readonly missing?: (request: Request) => Error;
  /** The version that the answer has as its `ETag`. */
  readonly etag?: (result: Result) => number;
  /** Whether it creates the session of its result, to which `Location` leads. */
  readonly creates?: boolean;
  /** Names of further headers of the answer, which `reply` sets. */
  readonly headers?: readonly 'ETag'[];
  /** Answers in a way of its own. Returns the body. */
  readonly reply?: (result: Result, reply: Reply) => unknown;
  /** If the answer is not the result of the operation. */
  readonly result?: Shape | Field;
  readonly others?: readonly OtherAnswer[];
  /** Problems besides those that follow from access, body and conditions. */
  readonly problems?: Readonly<Record<number, ProblemDescription>>;
}

/** How GraphQL shows an operation. */
export interface GraphqlField<Request = never, Result = never> {
  readonly type: 'query' | 'mutation';
  readonly name: string;
  /** If it does something else than the route. */
  readonly summary?: string;
  /** Whether null means that there is none. */
  readonly isNullable?: boolean;
  /** If it is not the result of the operation. */
  readonly result?: Shape<Result> | Field;
  readonly node?: (result: Result) => unknown;
  /** How many items the result counts for the limit of a document. Default: 1, or the items of the page. */
  readonly items?: (result: Result) => number;
  /** The list of the result that counts. */
  readonly counts?: keyof Result & string;
  /** Fields of the request that say whether a field of the items is selected. */
  readonly selects?: { readonly [Name in keyof (Request & {})]?: string };
  /** What the answer has of the request, counted before the operation. */
  readonly echoes?: keyof Request & string;
  /** Whether the answer is what the work wrote. */
  readonly isWork?: boolean;
}

/**
 * One operation, for all faces. `run` calls the service; everything else says how a request gets there and how the result comes back.
 */
export interface Operation<Services> {
  readonly summary: string;
  readonly description?: string;
  /** See `RequireAccess`. Who writes says what. */
  readonly access:
    | readonly ['read' | 'list' | 'delete', AccessRequirement['target']]
    | readonly ['write' | 'create', AccessRequirement['target'], NonNullable<AccessRequirement['writes']>];
  /** Whether it obeys `within`. If not, it refuses those for whom the access rule returns a filter. */
  readonly isFiltered?: boolean;
  /** The fields of the request, besides ids and conditions. */
  readonly request?: Fields;
  /** Whether it is refused unless the session has `expectedVersion`: `If-Match` in REST. */
  readonly keepsVersion?: boolean;
  /** How it takes a turn: to write in it, to write in it and maybe end it, or as the turn that is to be changed. */
  readonly turn?: 'in' | 'in or ending' | 'its own';
  readonly result?: Shape | Field;
  readonly run: (request: never, call: Call<Services>) => Promise<unknown>;
  /** Default: those in the path of the route. */
  readonly ids?: readonly string[];
  readonly route?: Route;
  readonly graphql?: GraphqlField;
}

/** What the route of an operation is made from. */
export type RoutedOperation = Omit<Operation<never>, 'run'> & { readonly route: Route };

/** An operation whose parts fit together: all of them get what `run` takes or returns. */
type Row<Services, Request, Result> = Omit<Operation<Services>, 'run' | 'request' | 'result' | 'route' | 'graphql'> & {
  readonly run: (request: Request, call: Call<Services>) => Promise<Result | undefined>;
  // `& {}`: the request follows from `run` alone.
  readonly request?: { readonly [Name in keyof (Request & {})]?: Field };
  readonly result?: Shape<Result> | Field;
  readonly route?: Route<Request, Result, Request>;
  readonly graphql?: GraphqlField<Request, Result>;
};

/**
 * Makes the function that checks the rows of a surface.
 *
 * @example const row = rowOf<{ sessions: SessionService }>();
 */
export const rowOf =
  <Services>() =>
  <Request, Result>(row: Row<Services, Request, Result>): Operation<Services> =>
    row as Operation<Services>;

/** Operations of one part of the product, by name: the `operationId` in OpenAPI. */
export interface Surface<Services, Name extends string = string> {
  /** The tag in OpenAPI. */
  readonly tag: string;
  /** The tokens of what the operations call. */
  readonly services: { readonly [Key in keyof Services]: InjectionToken<Services[Key]> };
  readonly operations: Readonly<Record<Name, Operation<Services>>>;
}

/** Keeps the names of the operations in the type. */
export function surface<Services, Name extends string>(parts: Surface<Services, Name>): Surface<Services, Name> {
  return parts;
}

/** The ids in a path, in order. */
export function idsIn({ at }: Pick<Route, 'at'>): string[] {
  return [...at.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
}

/** Provides what another module exports, under a token whose text Nest's error shows if that module is not imported. */
export function providedBy(module: string, token: InjectionToken): ExistingProvider & { readonly provide: symbol } {
  return { provide: Symbol(`needs ${module}.forRoot({ …, isGlobal: true })`), useExisting: token };
}
