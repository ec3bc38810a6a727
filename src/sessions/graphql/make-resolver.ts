import type { Type } from '@nestjs/common';
import { Args, Info, Mutation, Query } from '@nestjs/graphql';
import type { GraphQLResolveInfo } from 'graphql';
import { jsonBytes } from '../domain/stored/byte-budget.js';
import { InvalidInputError } from '../domain/errors/errors.js';
import { MAX_LIMIT, checkedLimit } from '../domain/values/paging.js';
import type { SessionFilter } from '../domain/metadata/session-filter.js';
import { type OperationHost, addMethod, operationClass } from '../surface/operation-class.js';
import type { GraphqlField, Operation, Surface } from '../surface/operation.js';
import { type Field, type Shape, isShape } from '../surface/shape.js';
import { AccessFilter } from '../transport/access-filter.js';
import { RequireAccess } from '../transport/session-access.js';
import { CurrentRequest, SessionFields } from './access.guard.js';
import { AnswersWithWork } from './limits/document-cost.js';
import { ResponseBudget, type ResponseCost, measureResponseCost } from './limits/response-budget.js';
import { argumentsType, resultTypeOf } from './make-types.js';
import { omitNulls } from './omit-nulls.js';
import { isSelected } from './selected-fields.js';

type Values = Readonly<Record<string, unknown>>;
type Shown = Pick<Operation<never>, 'result' | 'summary' | 'description'> & { readonly graphql: GraphqlField };

/**
 * Makes the resolver of a surface: a query or a mutation for each operation with a field. It reads the arguments, runs the operation
 * within the limits of the document, and shows the result.
 *
 * @example providers: [resolverOf(SESSION_OPERATIONS)]
 */
export function resolverOf<Services>(surface: Surface<Services>): Type {
  const Resolver = operationClass('Resolver', surface);
  for (const [name, operation] of Object.entries(surface.operations)) {
    const { graphql } = operation;
    if (graphql) addField(Resolver, name, { ...operation, graphql }, surface);
  }
  SessionFields()(Resolver);
  return Resolver;
}

function addField<Services>(
  Resolver: Type<object>,
  name: string,
  operation: Operation<Services> & Shown,
  surface: Surface<Services>,
): void {
  const { graphql, run, access } = operation;
  const descriptor = addMethod(
    Resolver,
    surface,
    name,
    async function (
      this: OperationHost<Services>,
      args: Values,
      info: GraphQLResolveInfo,
      request: unknown,
      within: SessionFilter | undefined,
    ) {
      const wanted = requestIn(args, operation, info);
      const call = { services: this, access: this.access, request, within };
      return nodeIn(
        operation,
        await runWithin(operation, wanted, info, () => run(wanted as never, call).catch(sayAfter)),
      );
    },
  );
  const prototype = Resolver.prototype as object;
  // What the compiler writes for a decorated method.
  Reflect.defineMetadata('design:paramtypes', [Object, Object, Object, Object], prototype, name);
  const Arguments = argumentsType(operation);
  Args({ type: () => Arguments })(prototype, name, 0);
  Info()(prototype, name, 1);
  CurrentRequest()(prototype, name, 2);
  if (operation.isFiltered) AccessFilter()(prototype, name, 3);
  const type = resultTypeOf(resultOf(operation));
  const options = { name: graphql.name, description: aboutOf(operation), nullable: graphql.isNullable ?? false };
  const add = graphql.type === 'query' ? Query : Mutation;
  add(() => type as never, options)(prototype, name, descriptor);
  const [action, target, writes] = access;
  RequireAccess(action, target, writes)(prototype, name, descriptor);
  if (graphql.isWork) AnswersWithWork()(prototype, name, descriptor);
}

function aboutOf({ graphql, summary, description }: Shown): string {
  const about = graphql.summary ?? summary;
  return description === undefined ? about : `${about}. ${description}`;
}

const resultOf = ({ result, graphql }: Shown): Shown['result'] => graphql.result ?? result;

/** The request in the arguments, where null means the same as a missing one. */
function requestIn(
  args: Values,
  { graphql, request = {} }: Operation<never> & Shown,
  info: GraphQLResolveInfo,
): Values {
  const { first, after, ...given } = omitNulls(args);
  const selected = Object.entries((graphql.selects ?? {}) as Record<string, string>).map(([name, field]) => [
    name,
    isSelected(field, info, 'nodes'),
  ]);
  return {
    ...given,
    ...(request.limit && { limit: limitIn(request.limit, first) }),
    ...('cursor' in request ? { cursor: after } : 'after' in request && { after }),
    ...Object.fromEntries(selected),
  };
}

/** Of a page, the cursor is the argument `after`. */
function sayAfter(error: unknown): never {
  if (!(error instanceof InvalidInputError) || error.path !== 'cursor') throw error;
  throw new InvalidInputError(error.message.slice('cursor: '.length), 'after');
}

function limitIn({ int32, schema: { maximum = MAX_LIMIT } }: Field, first: unknown): number {
  return checkedLimit(first ?? int32?.default, 'first', Number(maximum));
}

/** A read waits for its turn in the document, and counts for its limits. What is written is written, whatever the answer has. */
function runWithin(
  operation: Shown,
  request: Values,
  info: GraphQLResolveInfo,
  run: () => Promise<unknown>,
): Promise<unknown> {
  const { type, echoes, counts } = operation.graphql;
  const budget = ResponseBudget.of(info);
  if (echoes !== undefined) budget.spend(measureResponseCost(listIn(request, echoes), info, echoes));
  if (type === 'mutation' && counts === undefined) return run();
  return budget.read(run, (found) => costIn(operation, found, info));
}

function costIn(operation: Shown, found: unknown, info: GraphQLResolveInfo): ResponseCost {
  if (found === undefined) return { items: 0, bytes: 0 };
  const { counts, items } = operation.graphql;
  const paged = pageIn(operation)?.items;
  if (paged !== undefined) return measureResponseCost(listIn(found, paged), info, 'nodes');
  if (counts !== undefined) return measureResponseCost(listIn(found, counts), info, counts);
  return { items: items?.(found as never) ?? 1, bytes: jsonBytes(found) };
}

/** A name that the result does not have would switch a limit off. */
function listIn(found: unknown, name: string): readonly unknown[] {
  const list: unknown = Reflect.get(found as object, name);
  if (Array.isArray(list)) return list;
  throw new Error(`The result of an operation has no list "${name}".`);
}

function pageIn(operation: Shown): Shape | undefined {
  const result = resultOf(operation);
  return result && isShape(result) && result.items !== undefined ? result : undefined;
}

/** What GraphQL shows of a result. */
function nodeIn(operation: Shown, found: unknown): unknown {
  const result = resultOf(operation);
  if (result === undefined) return true;
  const { node } = operation.graphql;
  if (node) return node(found as never);
  if (found === undefined) return null;
  const page = pageIn(operation);
  if (page) return connectionOf(page, found as Values);
  return isShape(result) && result.node ? result.node(found as never) : found;
}

function connectionOf({ items = '', fields }: Shape, { [items]: listed, nextCursor, ...others }: Values): object {
  const of = (fields.nodes ?? fields[items])?.of;
  const node = of && isShape(of) ? of.node : undefined;
  const nodes = listed as readonly never[];
  return { ...others, nodes: node ? nodes.map((item) => node(item)) : nodes, pageInfo: pageInfoOf(nextCursor) };
}

function pageInfoOf(nextCursor: unknown): object {
  return { hasNextPage: nextCursor !== undefined, endCursor: nextCursor };
}
