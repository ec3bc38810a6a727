import { type Field, type Shape, fieldsOn, isShape } from '../../src/sessions/surface/shape.js';
import { type Row, idsOf } from './rows.js';
import { JSON_VALUES, KEY, LARGE, SMALL_EVENT, STORED_EVENT } from './samples.js';

/** Everything with large and odd values, everything with the smallest ones, or only what is required. */
export type Size = 'large' | 'small' | 'least';

export type Values = Readonly<Record<string, unknown>>;
type Face = 'rest' | 'graphql';

const TOKEN = 'turn-token';

/** A request of a row: its ids, and a value for each of its fields and conditions. */
export function madeRequest(row: Row, face: Face, size: Size): Values {
  return { ...idValues(row), ...madeFields(row.request ?? {}, face, size), ...conditions(row, size) };
}

/** What has this shape. */
export function madeOf(of: Shape | Field, face: Face, size: Size): unknown {
  if (!isShape(of)) return valueOf(of, face, size);
  // An event has more fields than its shape names.
  if (of.name === 'Event') return size === 'large' ? STORED_EVENT : SMALL_EVENT;
  return madeFields(of.fields, face, size);
}

/** The ids of the session `cart`. */
export function idValues(row: Row): Values {
  const ids: Values = { ...KEY, approvalId: 'c1@i1' };
  return Object.fromEntries(idsOf(row).map((name) => [name, ids[name]]));
}

function madeFields(fields: Shape['fields'], face: Face, size: Size): Values {
  const wanted = fieldsOn(face, fields).filter(([, { isOptional }]) => size !== 'least' || !isOptional);
  return Object.fromEntries(wanted.map(([name, field]) => [name, valueOf(field, face, size)]));
}

function conditions({ keepsVersion = false, turn }: Row, size: Size): Values {
  const isLarge = size === 'large';
  return {
    ...(turn === 'its own' && { token: TOKEN }),
    ...(keepsVersion && size !== 'least' && { expectedVersion: isLarge ? LARGE : 0 }),
    ...(turn !== undefined && turn !== 'its own' && size !== 'least' && { turn: TOKEN }),
    ...(turn === 'in or ending' && size !== 'least' && { endTurn: isLarge }),
  };
}

function valueOf({ kind, of, choice, schema }: Field, face: Face, size: Size): unknown {
  const isLarge = size === 'large';
  const { minimum = 0, maximum = LARGE } = schema as { readonly minimum?: number; readonly maximum?: number };
  switch (kind) {
    case 'text':
      return isLarge ? 'c/+=& ä' : 'a';
    case 'integer':
      return isLarge ? Math.min(maximum, LARGE) : minimum;
    case 'number':
      return isLarge ? 88.636_363_636_363_64 : 0;
    case 'flag':
      return isLarge;
    case 'choice':
      return isLarge ? choice?.values.at(-1) : choice?.values[0];
    case 'json':
      return isLarge ? JSON_VALUES : {};
    case 'list':
      return isLarge && of ? [madeOf(of, face, 'large'), madeOf(of, face, 'least')] : [];
    case 'shape':
      return of && madeOf(of, face, size);
  }
}
