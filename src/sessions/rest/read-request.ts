import type { Type } from '@nestjs/common';
import { type RoutedOperation, idsIn } from '../surface/operation.js';
import { type Field, type Fields, fieldsOn } from '../surface/shape.js';
import { DtoPipe } from './dto.pipe.js';
import type { HttpExchange } from './http-exchange.js';
import { requestDto } from './make-dto.js';
import { tokenOf, turnOf } from './turn-headers.js';

/** The classes that describe and check query and body. */
export interface RequestParts {
  readonly query?: Type<object>;
  readonly body?: Type<object>;
}

const known = new WeakMap<object, RequestParts>();

/** The query of a route without a body, or the body. */
export function partsOf(operation: Pick<RoutedOperation, 'request' | 'route'>): RequestParts {
  const made = known.get(operation);
  if (made) return made;
  const parts = makeParts(operation);
  known.set(operation, parts);
  return parts;
}

function makeParts({ request = {}, route }: Pick<RoutedOperation, 'request' | 'route'>): RequestParts {
  const { body } = route;
  if (body?.shape) return {};
  if (body) return { body: requestDto(request, 'body', body) };
  return Object.keys(request).length === 0 ? {} : { query: requestDto(request, 'query') };
}

/** Makes what reads the request of an operation: the ids of the path, query or body, and the headers of its conditions. */
export function requestReader<Request = unknown>(operation: RoutedOperation): (exchange: HttpExchange) => Request {
  const { route, request = {}, keepsVersion = false, turn } = operation;
  const names = idsIn(route);
  const { query, body } = partsOf(operation);
  const readQuery = query && new DtoPipe(query);
  const readBody = body && new DtoPipe(body);
  return (exchange) => {
    const { params = {}, body: given, query: asked } = exchange.request;
    const read = {
      ...(readQuery && valuesIn(readQuery.transform(asked), request)),
      ...(readBody && readBody.transform(given)),
      ...(route.body?.is !== undefined && { [route.body.is]: given }),
      ...Object.fromEntries(names.map((name) => [name, params[name]])),
      ...(keepsVersion && { expectedVersion: exchange.expectedVersion() }),
      ...(turn === 'its own' && { token: tokenOf(exchange) }),
      ...(turn === 'in' && { turn: turnOf(exchange).turn }),
      ...(turn === 'in or ending' && turnOf(exchange)),
    };
    return (route.prepare ? route.prepare(read as never, exchange) : read) as Request;
  };
}

/** The values of a query, where all is text. */
export function valuesIn<Values extends object = object>(query: object, request: Fields): Values {
  const fields = new Map(fieldsOn('rest', request));
  const values = Object.entries(query).map(([name, value]) => [name, valueOf(value, fields.get(name)?.kind)] as const);
  return Object.fromEntries(values) as Values;
}

function valueOf(text: unknown, kind: Field['kind'] | undefined): unknown {
  if (typeof text !== 'string') return text;
  if (kind === 'integer') return Number(text);
  return kind === 'flag' ? text === 'true' : text;
}
