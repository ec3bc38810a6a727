import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type ApiKeyOptions, parseExpiry } from '../../config/auth-settings.js';
import { NotSignedInError } from './auth-errors.js';
import { type Identity, SignedInUser } from './signed-in-user.js';

/** By this, keys are told from tokens, and found where they must not be: in logs and repositories. */
const PREFIX = 'agsk_';
const HASH = 'sha256-';

/** Whether a text looks like an API key of this package. */
export function isApiKey(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** A new key, and the hash to store. Nobody can find the key again. */
export function makeApiKey(): { readonly key: string; readonly hash: string } {
  const key = PREFIX + randomBytes(32).toString('base64url');
  return { key, hash: HASH + digest(key).toString('base64url') };
}

/**
 * One SHA-256 is enough: a key has 256 random bits, so that nobody can guess it from its hash, however fast the hash is. A slow one
 * would only let strangers use the processor.
 */
function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

interface KnownKey {
  readonly digest: Buffer;
  readonly identity: Identity;
}

/** The API keys that an app accepts. */
export class ApiKeys {
  readonly #known: readonly KnownKey[];

  constructor(
    keys: readonly ApiKeyOptions[],
    private readonly now: () => number,
  ) {
    this.#known = keys.map(({ name, hash, preset, user, apps, expires }) => ({
      digest: Buffer.from(hash.slice(HASH.length), 'base64url'),
      identity: {
        user: new SignedInUser({ id: user ?? name, preset, apps }),
        until: expires === undefined ? undefined : parseExpiry(expires),
      },
    }));
  }

  /** Compares with all of them, so that the time says nothing of which one it was. */
  identify(key: string): Identity {
    const given = digest(key);
    let found: Identity | undefined;
    for (const known of this.#known) if (timingSafeEqual(given, known.digest)) found = known.identity;
    if (!found) throw new NotSignedInError('The API key is not known.', 'invalid_token');
    if (found.until !== undefined && found.until <= this.now()) {
      throw new NotSignedInError('The API key has expired.', 'invalid_token');
    }
    return found;
  }
}
