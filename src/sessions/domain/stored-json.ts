import { StoreUnavailableError } from './errors.js';

/**
 * What text that a store kept says. All of it was JSON when it went in, so where it is not any more, something
 * damaged it. The parser's own complaint would quote what the text says.
 */
export function storedJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new StoreUnavailableError(`The store holds ${what} that is damaged: restore it from a backup.`, false);
  }
}
