import type { Type } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { SessionFilter } from '../domain/metadata/session-filter.js';
import { type OperationHost, addMethod, operationClass } from '../surface/operation-class.js';
import type { Operation, RoutedOperation, Surface } from '../surface/operation.js';
import { type Shape, isShape } from '../surface/shape.js';
import { AccessFilter } from '../transport/access-filter.js';
import { Exchange, type HttpExchange } from './http-exchange.js';
import { requestReader } from './read-request.js';
import { Route } from './route.js';
import { SessionRoutes } from './session-routes.js';

/**
 * Makes the controller of a surface: a method for each operation with a route, by its name. It reads the request, runs the operation,
 * and answers with the result.
 *
 * @example controllers: [controllerOf(SESSION_OPERATIONS)]
 */
export function controllerOf<Services>(surface: Surface<Services>): Type {
  const { tag, operations } = surface;
  const Controller = operationClass('Controller', surface);
  for (const [name, operation] of Object.entries(operations)) {
    if (isRouted(operation)) addRoute(Controller, name, operation, surface);
  }
  ApiTags(tag)(Controller);
  SessionRoutes('')(Controller);
  return Controller;
}

function isRouted<Services>(operation: Operation<Services>): operation is Operation<Services> & RoutedOperation {
  return operation.route !== undefined;
}

function addRoute<Services>(
  Controller: Type<object>,
  name: string,
  operation: Operation<Services> & RoutedOperation,
  surface: Surface<Services>,
): void {
  const read = requestReader<never>(operation);
  const { missing } = operation.route;
  const descriptor = addMethod(
    Controller,
    surface,
    name,
    async function (this: OperationHost<Services>, exchange: HttpExchange, within: SessionFilter | undefined) {
      const request = read(exchange);
      const call = { services: this, access: this.access, request: exchange.request, within };
      const result = await operation.run(request, call);
      if (result === undefined && missing) throw missing(request);
      return answer(operation, result, exchange);
    },
  );
  const prototype = Controller.prototype as object;
  Exchange()(prototype, name, 0);
  if (operation.isFiltered) AccessFilter()(prototype, name, 1);
  Route(name, operation)(prototype, name, descriptor);
}

/** The body of the answer, whose headers are set. */
function answer({ route, result }: RoutedOperation, found: unknown, exchange: HttpExchange): unknown {
  // What is not there has a status of its own; without a result there is none.
  if (found === undefined && result !== undefined) exchange.setStatus(204);
  if (found === undefined) return undefined;
  const { etag, creates, reply } = route;
  if (etag) exchange.tagVersion(etag(found as never));
  if (creates) exchange.setHeader('Location', `${sessionsPath(route.at, exchange.path)}/${encodeCreatedId(found)}`);
  const shown = route.result ?? result;
  const shape = shown && isShape(shown) ? shown : undefined;
  if (shape?.items !== undefined) exchange.linkPages(found as Parameters<HttpExchange['linkPages']>[0]);
  const body = reply ? reply(found as never, exchange) : found;
  return shape ? viewIn(shape, body) : body;
}

/** The value as REST shows it, also the items of a page. */
function viewIn({ view, items, fields }: Shape, value: unknown): unknown {
  if (view) return view(value as never);
  const of = items === undefined ? undefined : fields[items]?.of;
  if (items === undefined || !of || !isShape(of) || !of.view) return value;
  const page = value as Readonly<Record<string, readonly unknown[]>>;
  return { ...page, [items]: page[items]?.map((item) => viewIn(of, item)) };
}

/** The path of the sessions among which the new one is. */
function sessionsPath(at: string, path: string): string {
  const below = at.split('/').toReversed().indexOf('sessions');
  if (below < 0) throw new Error(`No session can be created at ${at}.`);
  const segments = path.split('/');
  return segments.slice(0, segments.length - below).join('/');
}

function encodeCreatedId(created: unknown): string {
  return encodeURIComponent((created as { readonly id: string }).id);
}
