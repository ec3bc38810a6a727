/** The form of one text. */
export const SEALED_VERSION = 'e1';
/** The form of several texts with their names. Each place has the whole, and reads its own. */
export const SEALED_TOGETHER_VERSION = 'e2';

/** Stored texts are JSON, digests or numbers, none of which begins so. */
const SEALED = /^(e\d{1,4})\.([\w-]{0,64})\./;

/** The parts of an encrypted text. */
export interface SealedForm {
  readonly version: string;
  readonly keyId: string;
  readonly body: string;
}

/**
 * Takes an encrypted text apart: `e1.<key id>.<base64url of iv, ciphertext and tag>`. Undefined for any other text.
 *
 * @example sealedFormOf('e1.k4f2.AAAA')?.keyId; // 'k4f2'
 */
export function sealedFormOf(text: string): SealedForm | undefined {
  const [start, version = '', keyId = ''] = SEALED.exec(text) ?? [];
  return start === undefined ? undefined : { version, keyId, body: text.slice(start.length) };
}

/** No JSON has a value that begins so. */
const SEALED_JSON = /(?:^|":)e\d{1,4}\.([\w-]{0,64})\./;

/**
 * The key of an encrypted text, or of one that stands for a value in it, if it cannot be parsed as JSON.
 *
 * @example keyOfSealed('{"step":e1.k4f2.AAAA}'); // 'k4f2'
 */
export function keyOfSealed(text: string): string | undefined {
  return SEALED_JSON.exec(text)?.[1];
}
