import type { Values } from '../transports/made-requests.js';
import { ROWS, type RowName } from '../transports/rows.js';

/** The request of an operation as arguments of its field. Paging has other names, and choices are written in another way. */
export function variablesOf(name: RowName, { limit, cursor, ...request }: Values): object {
  const fields = ROWS[name].request ?? {};
  const written = Object.entries(request).map(([field, value]) => [
    field,
    fields[field]?.kind === 'choice' && typeof value === 'string'
      ? value.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
      : value,
  ]);
  return { first: limit, after: cursor, ...(Object.fromEntries(written) as object) };
}
