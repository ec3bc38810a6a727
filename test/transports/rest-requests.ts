import { fieldsOn } from '../../src/sessions/surface/shape.js';
import type { Values } from './made-requests.js';
import { type Row, idsOf } from './rows.js';

/** A request of a row as HTTP has it. */
export interface RestRequest {
  readonly method: string;
  readonly path: string;
  /** The parameters, in the order of their names. */
  readonly query: string;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** The request that the route of a row takes for these values. */
export function restRequest(row: Row, request: Values): RestRequest {
  const { route } = row;
  if (!route) throw new Error(`${row.summary}: it has no route`);
  const [method = '', pattern = ''] = route.at.split(' ');
  const path = `/${pattern}`.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(textOf(request[name])));
  const ids = idsOf(row);
  const given = fieldsOn('rest', row.request ?? {}).flatMap(([name]) =>
    request[name] === undefined || ids.includes(name) ? [] : [[name, request[name]] as const],
  );
  const { body } = route;
  return {
    method,
    path,
    query: body ? '' : queryOf(given),
    body: !body ? undefined : body.is === undefined ? Object.fromEntries(given) : request[body.is],
    headers: headersOf(row, request),
  };
}

function queryOf(given: readonly (readonly [string, unknown])[]): string {
  const all = given.flatMap(([name, value]) => [value].flat().map((one) => [name, textOf(one)] as [string, string]));
  const query = new URLSearchParams(all);
  query.sort();
  return all.length === 0 ? '' : `?${query.toString()}`;
}

function headersOf(
  { turn }: Row,
  { expectedVersion, turn: token, endTurn, token: own }: Values,
): RestRequest['headers'] {
  return {
    ...(expectedVersion !== undefined && { 'if-match': `"${textOf(expectedVersion)}"` }),
    ...(token !== undefined && { 'turn-token': textOf(token) }),
    ...(turn === 'its own' && { 'turn-token': textOf(own) }),
    ...(endTurn !== undefined && { 'turn-end': textOf(endTurn) }),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
