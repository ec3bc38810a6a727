import {
  type KeyObject,
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
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
/** Refuses shorter ones, which are easier to guess. */
const TAG = { authTagLength: TAG_BYTES };
export const KEY_BYTES = 32;

/** What the key is derived for that makes the ivs of texts which stores compare. */
const FOR_EQUAL_TEXTS = 'nestjs-agent-sessions e1 equal texts';

/** A key with its id. */
export class EncryptionKey {
  #forEqualTexts: KeyObject | undefined;

  constructor(
    readonly id: string,
    readonly key: KeyObject,
  ) {}

  /** For HMAC, a key of its own by HKDF: the other one is for AES. */
  get forEqualTexts(): KeyObject {
    this.#forEqualTexts ??= createSecretKey(Buffer.from(hkdfSync('sha256', this.key, '', FOR_EQUAL_TEXTS, KEY_BYTES)));
    return this.#forEqualTexts;
  }
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
  return new EncryptionKey(id, createSecretKey(bytes));
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
  const iv = createHmac('sha256', key.forEqualTexts)
    .update(boundTo(key.id, owner, place))
    .update('\n')
    .update(text)
    .digest();
  return sealed(key, owner, place, text, iv.subarray(0, IV_BYTES));
}

function sealed(key: EncryptionKey, owner: TextOwner, place: TextPlace, text: string, iv: Uint8Array): string {
  const cipher = createCipheriv(ALGORITHM, key.key, iv);
  cipher.setAAD(boundTo(key.id, owner, place));
  const encrypted = cipher.update(text, 'utf8');
  // GCM has nothing left to return.
  cipher.final();
  const bytes = Buffer.concat([iv, encrypted, cipher.getAuthTag()]);
  return `${SEALED_VERSION}.${key.id}.${bytes.toString('base64url')}`;
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
    const opened = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
    decipher.final();
    // Not by the decoder of the cipher, which is made for streams and costs more.
    return opened.toString('utf8');
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

/** To be used at once. */
function nextIv(): Uint8Array {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return pool.subarray(used, (used += IV_BYTES));
}
