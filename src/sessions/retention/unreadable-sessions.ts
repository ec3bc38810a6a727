import { EncryptionError } from '../domain/errors/encryption-errors.js';
import type { SessionsError } from '../domain/errors/errors.js';
import { type SessionKey, sessionNameOf } from '../domain/values/ids.js';

/** The sessions of a run whose texts cannot be decrypted. Each is left as it is, and counted once. */
export class UnreadableSessions {
  readonly #names = new Set<string>();

  /** @param onFirst gets the error of the first of them: mostly, it is that of all */
  constructor(private readonly onFirst: (error: SessionsError) => void = () => undefined) {}

  get count(): number {
    return this.#names.size;
  }

  has(key: SessionKey): boolean {
    return this.#names.has(sessionNameOf(key));
  }

  readonly add = (key: SessionKey, error: SessionsError): void => {
    if (this.#names.size === 0) this.onFirst(error);
    this.#names.add(sessionNameOf(key));
  };

  /** Does something with a session, unless its texts turn out to be unreadable: then it is `undefined`. */
  async unless<Result>(key: SessionKey, work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof EncryptionError)) throw error;
      this.add(key, error);
      return undefined;
    }
  }
}
