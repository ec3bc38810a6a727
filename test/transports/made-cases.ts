import { Session } from '../../src/index.js';
import { type Size, type Values, idValues, madeOf, madeRequest } from './made-requests.js';
import { OPERATIONS } from './operations.js';
import { ROWS, type RowName } from './rows.js';
import { jsonOf } from './samples.js';

/** A request of an operation, and what the service returns. */
export interface Case {
  readonly request: Values;
  readonly reply: unknown;
}

const SIZES: readonly Size[] = ['large', 'small', 'least'];

/** The requests of an operation over one face. */
export function casesOf(name: RowName, face: 'rest' | 'graphql'): readonly Case[] {
  const row = ROWS[name];
  const { requests } = OPERATIONS[name];
  const ids = idValues(row);
  const foreign = Object.entries(row.request ?? {}).filter(([, { only = face }]) => only !== face);
  const sent = requests?.map((request) => without(foreign, { ...ids, ...request })) ?? [
    ...new Map(
      SIZES.map((size) => madeRequest(row, face, size)).map((request) => [JSON.stringify(request), request]),
    ).values(),
  ];
  const replies = repliesOf(name);
  return Array.from({ length: Math.max(sent.length, replies.length) }, (_, index) => ({
    request: sent[index % sent.length] ?? {},
    reply: replies[index % replies.length],
  }));
}

/** Only the fields that a face has. */
function without(foreign: readonly (readonly [string, unknown])[], request: Values): Values {
  const names = new Set(foreign.map(([name]) => name));
  return Object.fromEntries(Object.entries(request).filter(([name]) => !names.has(name)));
}

/** What the service may return: with all fields, and with the fewest. */
export function repliesOf(name: RowName): readonly unknown[] {
  const { result } = ROWS[name];
  const { replies } = OPERATIONS[name];
  if (replies) return replies;
  if (result === undefined) return [undefined];
  return [madeOf(result, 'rest', 'large'), madeOf(result, 'rest', 'least')];
}

/** A value as JSON has it. */
export function asJson(value: unknown): unknown {
  if (value instanceof Session) return jsonOf(value);
  if (typeof value !== 'object' || value === null) return value;
  if (!('sessions' in value)) return value;
  return { ...value, sessions: (value.sessions as readonly Session[]).map(jsonOf) };
}
