import { InvalidInputError } from '../../domain/errors/errors.js';
import { UnsupportedByStoreError } from '../../domain/errors/unsupported-error.js';

/** Keys in the state of a session that belong to the store. */
const RESERVED = '_agent_sessions';
export const SNAPSHOT_KEY = RESERVED;
export const BASE_KEY = `${RESERVED}_base`;
export const METADATA_KEY = `${RESERVED}_metadata`;
/** In the custom metadata of an event. */
export const STAMP_KEY = RESERVED;

/** Whether a key of a session's state belongs to the app. */
export function isSessionKey(key: string): boolean {
  return !key.startsWith(RESERVED);
}

/** Refuses keys that belong to the store. */
export function assertOwnState(entries: readonly { readonly name: string }[]): void {
  for (const { name } of entries) {
    if (!isSessionKey(name))
      throw new InvalidInputError(`must not begin with ${RESERVED}`, `$.actions.stateDelta.${name}`);
  }
}

export function sharedStateError(): UnsupportedByStoreError {
  return new UnsupportedByStoreError('Vertex AI has no state of users and apps. Leave out keys with user: and app:.');
}
