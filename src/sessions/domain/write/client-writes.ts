import type { Scope } from '../../../state/scopes.js';
import type { WriteDescription } from './write-description.js';

/** What clients may write. Each list replaces its default. */
export interface ClientWrites {
  /** `user` unless given. */
  readonly authors?: readonly string[] | undefined;
  /** `user` unless given. */
  readonly roles?: readonly string[] | undefined;
  /** `text`, `inlineData` and `fileData` unless given. */
  readonly content?: readonly string[] | undefined;
  /** None unless given, such as `rewind`, `fork` and `stop`. */
  readonly controls?: readonly string[] | undefined;
  /** None unless given, such as `customMetadata`, besides the plain ones of `write-description.ts`. */
  readonly fields?: readonly string[] | undefined;
  /** `session`, `user` and `temp` unless given. */
  readonly stateScopes?: readonly Scope[] | undefined;
}

const CLIENT_WRITES = {
  authors: ['user'],
  roles: ['user'],
  content: ['text', 'inlineData', 'fileData'],
  controls: [],
  fields: [],
  stateScopes: ['session', 'user', 'temp'],
} as const satisfies ClientWrites;

/**
 * Whether a client may make this write. Clients must not write as an agent or a tool. By default they write as the user, text and files
 * only, without control over the session and without app state. A write without description is refused.
 *
 * @example
 * isClientWrite(describeWrite({ event: { author: 'agent' } })); // false
 */
export function isClientWrite(write: WriteDescription | undefined, allowed: ClientWrites = {}): boolean {
  if (write === undefined) return false;
  const names = Object.keys(CLIENT_WRITES) as (keyof typeof CLIENT_WRITES)[];
  return names.every((name) => {
    const list: readonly string[] = allowed[name] ?? CLIENT_WRITES[name];
    return write[name].every((item) => list.includes(item));
  });
}
