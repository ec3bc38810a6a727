import { SessionsError } from './errors.js';

const SHOWN = 40;

/** What stands beside a text in the store may have been altered with it. */
function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
}

/** The base of the errors of encrypted texts: their data are there, and cannot be read. Remote callers learn nothing of keys. */
export abstract class EncryptionError extends SessionsError {
  abstract override readonly code:
    'ENCRYPTION_KEY_WRONG' | 'ENCRYPTION_KEY_UNKNOWN' | 'ENCRYPTION_VERSION_UNKNOWN' | 'PLAIN_TEXT_REFUSED';
  readonly status = 500;

  override get publicMessage(): string {
    return 'The stored data cannot be decrypted; the log of the server says why.';
  }
}

/**
 * A text is not what this key has encrypted for this place: the key is another one of the same id, or somebody altered or moved the text.
 *
 * @example if (error instanceof WrongEncryptionKeyError) alertOperators(error.keyId);
 */
export class WrongEncryptionKeyError extends EncryptionError {
  readonly code = 'ENCRYPTION_KEY_WRONG';

  constructor(
    readonly keyId: string,
    /** What was to be read, such as `event`. */
    readonly what: string,
  ) {
    super(
      `The store holds ${what} that the key ${shown(keyId)} cannot open: it is another key of this id, or the text was altered or moved. ` +
        'Give the key that encrypted it, or restore the data.',
    );
  }
}

/**
 * A text names a key that is not there: a setting lacks it, or it was destroyed with its user.
 *
 * @example if (error instanceof UnknownEncryptionKeyError) alertOperators(error.keyId);
 */
export class UnknownEncryptionKeyError extends EncryptionError {
  readonly code = 'ENCRYPTION_KEY_UNKNOWN';

  constructor(
    readonly keyId: string,
    readonly what: string,
  ) {
    super(
      `The store holds ${what} that is encrypted with the key ${shown(keyId)}, which is not known here. Set \`encryption\` with all keys that are in use; ` +
        'the key of a user who was erased is gone.',
    );
  }
}

/**
 * A text has a form that a newer version of this package writes.
 *
 * @example if (error instanceof UnknownEncryptionVersionError) alertOperators(error.version);
 */
export class UnknownEncryptionVersionError extends EncryptionError {
  readonly code = 'ENCRYPTION_VERSION_UNKNOWN';

  constructor(
    readonly version: string,
    readonly what: string,
  ) {
    super(
      `The store holds ${what} in the form ${shown(version)} of encrypted texts, which this version of nestjs-agent-sessions cannot read. Install a newer one.`,
    );
  }
}

/**
 * A text is not encrypted, and `encryption.allowPlain` is off.
 *
 * @example if (error instanceof PlainTextRefusedError) alertOperators(error.what);
 */
export class PlainTextRefusedError extends EncryptionError {
  readonly code = 'PLAIN_TEXT_REFUSED';

  constructor(readonly what: string) {
    super(
      `The store holds ${what} that is not encrypted. Set encryption.allowPlain if it is older than the encryption; otherwise somebody else wrote it.`,
    );
  }
}
