import type { Type } from '@nestjs/common';
import { type RoutedOperation, idsIn } from '../surface/operation.js';
import { type Field, type Fields, fieldsOn } from '../surface/shape.js';
import { remembered } from '../storage/remembered.js';
import { DtoPipe } from './dto.pipe.js';
import { expectedVersionIn } from './if-match.js';
import type { HttpExchange } from './http-exchange.js';
import { requestDto } from './make-dto.js';
import { readTokenHeader, readTurnHeaders } from './turn-headers.js';

/** The classes that describe and check query and body. */
export interface RequestParts {
  readonly query?: Type<object>;
  readonly body?: Type<object>;
}

/** The query of a route without a body, or the body. */
export const partsOf = remembered(({ request = {}, route }: RoutedOperation): RequestParts => {
  const { body } = route;
  if (body?.shape) return {};
  if (body) return { body: requestDto(request, 'body', body) };
  return Object.keys(request).length === 0 ? {} : { query: requestDto(request, 'query') };
});

/** Makes what reads the request of an operation: the ids of the path, query or body, and the headers of its conditions. */
export function requestReader<Request = unknown>(operation: RoutedOperation): (exchange: HttpExchange) => Request {
  const { route, request = {}, keepsVersion = false, turn } = operation;
  const names = idsIn(route);
  const { query, body } = partsOf(operation);
  const readQuery = query && queryReader(query, request);
  const readBody = body && new DtoPipe(body);
  return (exchange) => {
    const { params = {}, body: given, query: asked } = exchange.request;
    const read = {
      ...readQuery?.(asked),
      ...readBody?.transform(given),
      ...(route.body?.is !== undefined && { [route.body.is]: given }),
      ...Object.fromEntries(names.map((name) => [name, params[name]])),
      ...(keepsVersion && { expectedVersion: expectedVersionIn(exchange) }),
      ...(turn === 'its own' && { token: readTokenHeader(exchange) }),
      ...(turn === 'in' && { turn: readTurnHeaders(exchange).turn }),
      ...(turn === 'in or ending' && readTurnHeaders(exchange)),
    };
    return (route.prepare ? route.prepare(read as never, exchange) : read) as Request;
  };
}

/** Makes what checks a query, where all is text, and returns its values. */
export function queryReader<Values extends object = object>(
  Query: Type<object>,
  request: Fields,
): (query: unknown) => Values {
  const pipe = new DtoPipe(Query);
  const kinds = new Map(fieldsOn('rest', request).map(([name, { kind }]) => [name, kind]));
  return (query) => {
    const checked = Object.entries(pipe.transform(query));
    return Object.fromEntries(
      checked.map(([name, value]) => [name, parseRequestValue(value, kinds.get(name))]),
    ) as Values;
  };
}

function parseRequestValue(text: unknown, kind: Field['kind'] | undefined): unknown {
  if (typeof text !== 'string') return text;
  if (kind === 'integer') return Number(text);
  return kind === 'flag' ? text === 'true' : text;
}
