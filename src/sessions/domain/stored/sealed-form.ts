/** The form of one text. */
export const SEALED_VERSION = 'e1';
/** The form of several texts with their names. Each place has the whole, and reads its own. */
export const SEALED_TOGETHER_VERSION = 'e2';

/** Stored texts are JSON, digests or numbers, none of which begins so. */
const SEALED = /^(e\d{1,4})\.([\w-]{0,64})\./;

export const IV_BYTES = 12;
export const TAG_BYTES = 16;

/** What a cipher makes of a text. */
export interface SealedBytes {
  readonly iv: Uint8Array;
  readonly encrypted: Uint8Array;
  readonly tag: Uint8Array;
}

/** The parts of an encrypted text: `e1.<key id>.<base64url of iv, encrypted bytes and tag>`. */
export interface SealedForm {
  readonly version: string;
  readonly keyId: string;
  readonly body: string;
}

/** Makes an encrypted text of its parts. */
export function sealedText(version: string, keyId: string, { iv, encrypted, tag }: SealedBytes): string {
  return `${version}.${keyId}.${Buffer.concat([iv, encrypted, tag]).toString('base64url')}`;
}

/** What the cipher made. */
export function sealedBytesIn({ body }: SealedForm): SealedBytes {
  const bytes = Buffer.from(body, 'base64url');
  const [iv, encrypted, tag] = [
    bytes.subarray(0, IV_BYTES),
    bytes.subarray(IV_BYTES, -TAG_BYTES),
    bytes.subarray(-TAG_BYTES),
  ];
  return { iv, encrypted, tag };
}

/**
 * Takes an encrypted text apart. Undefined for any other text.
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
