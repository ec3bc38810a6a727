import { createHash } from 'node:crypto';
import type { SessionKey } from '../values/ids.js';
import { textProblem } from '../values/input-checks.js';

/**
 * The session of components that belongs to a session.
 *
 * @example componentSessionOf({ appName: 'shop', userId: 'ann', sessionId: 's-1' }); // '["shop","ann","s-1"]'
 */
export function componentSessionOf({ appName, userId, sessionId }: SessionKey): string {
  return JSON.stringify([appName, userId, sessionId]);
}

const REQUEST_TEXTS = 'model-requests';

/** Where the instructions and lists of tools of the session's model requests are: a session of components that goes with the session. */
export function requestTextsOf({ appName, userId, sessionId }: SessionKey): string {
  return JSON.stringify([appName, userId, sessionId, REQUEST_TEXTS]);
}

/** The sessions of components that belong to a session. */
export function componentSessionsOf(key: SessionKey): readonly string[] {
  return [componentSessionOf(key), requestTextsOf(key)];
}

/** How the names of all sessions of components begin that belong to the sessions of an app or a user; `''` without an app. */
export function componentPrefixOf({ appName, userId }: Partial<SessionKey>): string {
  if (appName === undefined) return '';
  return `${JSON.stringify(userId === undefined ? [appName] : [appName, userId]).slice(0, -1)},`;
}

/** The ids of the session that a session of components belongs to; `undefined` if the app chose a name of its own. */
export function sessionOfComponents(session: string): SessionKey | undefined {
  if (!session.startsWith('["')) return undefined;
  try {
    const ids: unknown = JSON.parse(session);
    if (!Array.isArray(ids) || ids.length > 4) return undefined;
    const [appName, userId, sessionId, part = REQUEST_TEXTS] = ids as unknown[];
    if (
      part !== REQUEST_TEXTS ||
      typeof appName !== 'string' ||
      typeof userId !== 'string' ||
      typeof sessionId !== 'string'
    )
      return undefined;
    return { appName, userId, sessionId };
  } catch {
    return undefined;
  }
}

const MAX_SESSION_BYTES = 1_024;
const MAX_NAME_BYTES = 255;

/** Why a value cannot be the name of a session of components, or `undefined`. */
export function componentSessionProblem(id: unknown): string | undefined {
  return textProblem(id, MAX_SESSION_BYTES) ?? (String(id).trim() === '' ? 'must not be blank' : undefined);
}

/** Why a value cannot be the name of a component, or `undefined`. */
export function componentNameProblem(name: unknown): string | undefined {
  return textProblem(name, MAX_NAME_BYTES);
}

/** A short name of a session of components for places whose length is limited. No other session has it. */
export function componentSessionDigest(session: string): Buffer {
  return createHash('sha256').update(session).digest();
}

/** One saved thing of a session of components. A value and a list of the same name are two things. */
export interface ComponentPlace {
  readonly session: string;
  readonly name: string;
  readonly kind: 'value' | 'list';
}

/** What is known of a saved thing without its content. */
export interface ComponentHead {
  /** Grows by one with each change. */
  readonly version: number;
  /** The number of texts. */
  readonly length: number;
  /** See {@link digestAfter}. */
  readonly digest: string;
}

/** A saved thing. A value is one JSON text, a list has one for each item. */
export interface StoredComponent extends ComponentHead {
  readonly texts: readonly string[];
}

/** Replaces what is saved, or appends to it. If it keeps all and adds nothing, it only moves the expiry. */
export interface ComponentWrite {
  readonly place: ComponentPlace;
  /** The version that is replaced; 0: nothing is there yet. Default: any. */
  readonly expectedVersion?: number | undefined;
  /** How many texts stay: none, or all that there are. */
  readonly keep: number;
  /** The digest of the texts that stay. */
  readonly keptDigest: string;
  /** The texts after those that stay. */
  readonly texts: readonly string[];
  /** The digest of all texts. */
  readonly digest: string;
  /** The whole session expires so long after this write. Default: its expiry stays as it is. */
  readonly ttlMs?: number | undefined;
}

/** What a write did; `version` is the new one, or the stored one that it did not fit. */
export type ComponentWriteOutcome =
  { readonly kind: 'written'; readonly version: number } | { readonly kind: 'conflict'; readonly version: number };

/**
 * Whether a write fits what is stored, and which version it makes: the same if it changes nothing. Each store calls it inside its atomic step.
 *
 * @example const outcome = componentWriteOutcome(await headOf(write.place), write);
 */
export function componentWriteOutcome(
  head: ComponentHead | undefined,
  { expectedVersion, keep, keptDigest, texts }: ComponentWrite,
): ComponentWriteOutcome {
  const version = head?.version ?? 0;
  const isExpected = expectedVersion === undefined || expectedVersion === version;
  const fits = keep === 0 || (keep === head?.length && keptDigest === head.digest);
  const isSame = texts.length === 0 && keep === head?.length;
  return isExpected && fits ? { kind: 'written', version: version + (isSame ? 0 : 1) } : { kind: 'conflict', version };
}

/** The digest of no text. */
export const EMPTY_DIGEST = '';

/**
 * The digest of texts that follow those of `before`. It tells whether any text differs, wherever.
 *
 * @example const digest = digestAfter(head.digest, added);
 */
export function digestAfter(before: string, texts: readonly string[]): string {
  let digest = before;
  for (const text of texts) digest = createHash('sha256').update(digest).update('\n').update(text).digest('base64url');
  return digest;
}
