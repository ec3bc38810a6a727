import { createHash } from 'node:crypto';
import { type SessionKey, sessionNameOf } from '../../domain/values/ids.js';

/** What Vertex AI accepts as an id. */
const LEGAL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** In front of ids that the store makes. */
const MADE = 'x-';

/**
 * The ids that a session can have in Vertex AI, where ids are those of the engine and have few characters: its own one, and
 * one that no other user's session has.
 */
export function resourceIdsOf(key: SessionKey): readonly string[] {
  const made = MADE + createHash('sha256').update(sessionNameOf(key)).digest('hex').slice(0, 48);
  const isLegal = LEGAL.test(key.sessionId) && !key.sessionId.startsWith(MADE);
  return isLegal ? [key.sessionId, made] : [made];
}
