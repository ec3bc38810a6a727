import { inspect } from 'node:util';
import { ConfigurationError } from '../../../config/configuration-error.js';
import { type IdGenerator, MAX_ID_BYTES, isId } from './ids.js';

/**
 * Refuses what a generator of the app makes that is no id. That is the app's mistake: a refusal of the id would be one of the client,
 * who gave none.
 *
 * @example const newId = checkedIds(() => ulid());
 */
export function checkedIds(newId: IdGenerator, maxBytes = MAX_ID_BYTES): IdGenerator {
  return () => {
    const id: unknown = newId();
    if (isId(id) && Buffer.byteLength(id) <= maxBytes) return id;
    throw new ConfigurationError([`newId returned ${inspect(id)}; it must be an id of at most ${maxBytes} bytes.`]);
  };
}
