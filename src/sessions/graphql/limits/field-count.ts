import { type FieldNode, type GraphQLField, Kind } from 'graphql';
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../domain/paging.js';

/** How often what is inside a field is answered. */
export type FieldCount = number;

/** The arguments that say how many. */
const SIZES = new Set(['first', 'numRecentEvents']);

/** As often as an argument says; a variable may be anything, so it counts as the most there can be. */
export function countOf({ arguments: given = [] }: FieldNode, field?: GraphQLField<unknown, unknown>): FieldCount {
  const size = given.find(({ name }) => SIZES.has(name.value))?.value;
  if (size === undefined || size.kind === Kind.NULL) {
    return field?.args.some(({ name }) => SIZES.has(name)) === true ? DEFAULT_LIMIT : 1;
  }
  return size.kind === Kind.INT || size.kind === Kind.FLOAT ? Math.max(0, Number(size.value)) : MAX_LIMIT;
}
