import {
  type KeyObject,
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  randomFillSync,
} from 'node:crypto';
import {
  PlainTextRefusedError,
  UnknownEncryptionKeyError,
  UnknownEncryptionVersionError,
  WrongEncryptionKeyError,
} from '../domain/encryption-errors.js';
import type { StateOwner } from '../domain/ids.js';
import { SEALED_VERSION, sealedFormOf } from '../domain/sealed-form.js';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const TAG = { authTagLength: TAG_BYTES };
export const KEY_BYTES = 32;

/** A key with its id. */
export interface EncryptionKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** Whose text it is: of a user, of an app, or of nobody. */
export type TextOwner = Partial<StateOwner>;

/** What a text is, so that it opens nowhere else: a kind, such as `event`, and a name in it, such as the id of the event. */
export interface TextPlace {
  readonly field: string;
  readonly id: string;
}

/** @param bytes 32 bytes */
export function encryptionKey(id: string, bytes: Uint8Array): EncryptionKey {
  return { id, key: createSecretKey(bytes) };
}

/**
 * Encrypts a text for its place. Two calls return different texts.
 *
 * @example const text = sealText(key, { appName: 'shop', userId: 'ann' }, { field: 'event', id: 'e-1' }, payload);
 */
export function sealText(key: EncryptionKey, owner: TextOwner, place: TextPlace, text: string): string {
  return sealed(key, owner, place, text, nextIv());
}

/** The same for a text that stores compare: two calls return the same text. */
export function sealEqually(key: EncryptionKey, owner: TextOwner, place: TextPlace, text: string): string {
  const iv = createHmac('sha256', key.key)
    .update(boundTo(key.id, owner, place))
    .update('\n')
    .update(text)
    .digest();
  return sealed(key, owner, place, text, iv.subarray(0, IV_BYTES));
}

function sealed(key: EncryptionKey, owner: TextOwner, place: TextPlace, text: string, iv: Uint8Array): string {
  const cipher = createCipheriv(ALGORITHM, key.key, iv, TAG);
  cipher.setAAD(boundTo(key.id, owner, place));
  const parts = [iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
  return `${SEALED_VERSION}.${key.id}.${Buffer.concat(parts).toString('base64url')}`;
}

/**
 * Opens a text that {@link sealText} made for this owner and place.
 *
 * @param keyOf the key of an id; undefined if there is none
 * @throws one of the errors of encrypted texts; never returns anything else than what was encrypted
 */
export function openText(
  keyOf: (id: string) => EncryptionKey | undefined,
  owner: TextOwner,
  place: TextPlace,
  text: string,
): string {
  const what = described(place);
  const form = sealedFormOf(text);
  if (!form) throw new PlainTextRefusedError(what);
  if (form.version !== SEALED_VERSION) throw new UnknownEncryptionVersionError(form.version, what);
  const key = keyOf(form.keyId);
  if (!key) throw new UnknownEncryptionKeyError(form.keyId, what);
  const bytes = Buffer.from(form.body, 'base64url');
  try {
    const decipher = createDecipheriv(ALGORITHM, key.key, bytes.subarray(0, IV_BYTES), TAG);
    decipher.setAAD(boundTo(key.id, owner, place));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const opened = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8');
    return opened + decipher.final('utf8');
  } catch {
    // The error of the cipher adds nothing, and must not quote the text.
    throw new WrongEncryptionKeyError(form.keyId, what);
  }
}

function described({ field }: TextPlace): string {
  return /^[aeio]/.test(field) ? `an ${field}` : `a ${field}`;
}

function boundTo(keyId: string, { appName, userId }: TextOwner, { field, id }: TextPlace): Buffer {
  return Buffer.from(JSON.stringify([SEALED_VERSION, keyId, appName ?? null, userId ?? null, field, id]));
}

/** Random bytes cost less in one piece. */
const pool = Buffer.alloc(IV_BYTES * 256);
let used = pool.length;

function nextIv(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const iv = Buffer.from(pool.subarray(used, used + IV_BYTES));
  used += IV_BYTES;
  return iv;
}
