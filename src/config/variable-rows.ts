import type { Reading } from './read-variables.js';
import type { Kind, Setting, Variable } from './setting.js';

/** A variable with a name of its own. */
interface Row extends Setting {
  readonly name: string;
  readonly meaning: string;
}

/** Variables, each at the place of its value. */
export interface Rows {
  readonly [place: string]: Row | Rows;
}

/** What the variables give. One without a default may be missing. */
export type ValuesOf<Each> = {
  readonly [Place in keyof Each]: Each[Place] extends { readonly kind: Kind<infer Value> }
    ? Value | (Each[Place] extends { readonly default: unknown } ? never : undefined)
    : ValuesOf<Each[Place]>;
};

/** All variables of the rows. */
export function variablesIn(rows: Rows, path: string): Variable[] {
  return Object.values(rows).flatMap((each) =>
    isRow(each) ? [{ ...each, path, isOption: false }] : variablesIn(each, path),
  );
}

/** What was read, or the defaults, at the places of the rows. */
export function valuesIn<Each extends Rows>(rows: Each, values: Reading['values']): ValuesOf<Each> {
  const entries = Object.entries<Row | Rows>(rows).map(([place, each]) => [
    place,
    isRow(each) ? (values.get(each.name) ?? each.default) : valuesIn(each, values),
  ]);
  return Object.fromEntries(entries) as ValuesOf<Each>;
}

function isRow(each: Row | Rows): each is Row {
  return typeof each.name === 'string';
}
