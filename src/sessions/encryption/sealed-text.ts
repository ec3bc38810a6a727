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
} from '../domain/errors/encryption-errors.js';
import type { StateOwner } from '../domain/values/ids.js';
import {
  IV_BYTES,
  type SealedForm,
  SEALED_TOGETHER_VERSION,
  SEALED_VERSION,
  sealedBytesIn,
  sealedFormOf,
  sealedText,
  TAG_BYTES,
} from '../domain/stored/sealed-form.js';

const ALGORITHM = 'aes-256-gcm';
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
export function sealText(
  key: EncryptionKey,
  owner: TextOwner,
  place: TextPlace,
  text: string,
  known?: OpenedTexts,
): string {
  const result = sealed(SEALED_VERSION, key, owner, place, text, nextIv());
  known?.add(key, place, result, text);
  return result;
}

/** A text with the name that its place has in the field. */
export type NamedText = readonly [id: string, text: string];

/**
 * Encrypts texts of one field as one: the result is for each of their places, where {@link openText} finds the one of that place.
 *
 * @example const value = sealTogether(key, { appName: 'shop', userId: 'ann' }, 'user state', [['step', '1'], ['stage', '"sent"']]);
 */
export function sealTogether(
  key: EncryptionKey,
  owner: TextOwner,
  field: string,
  texts: readonly NamedText[],
  known?: OpenedTexts,
): string {
  const place = placeOfAll(field);
  const all = JSON.stringify(texts);
  const result = sealed(SEALED_TOGETHER_VERSION, key, owner, place, all, nextIv());
  known?.add(key, place, result, all);
  return result;
}

function placeOfAll(field: string): TextPlace {
  return { field, id: '' };
}

/** The same for a text that stores compare: two calls return the same text. */
export function sealEqually(key: EncryptionKey, owner: TextOwner, place: TextPlace, text: string): string {
  const iv = createHmac('sha256', key.forEqualTexts)
    .update(boundTo(SEALED_VERSION, key.id, owner, place))
    .update('\n')
    .update(text)
    .digest();
  return sealed(SEALED_VERSION, key, owner, place, text, iv.subarray(0, IV_BYTES));
}

function sealed(
  version: string,
  key: EncryptionKey,
  owner: TextOwner,
  place: TextPlace,
  text: string,
  iv: Uint8Array,
): string {
  const cipher = createCipheriv(ALGORITHM, key.key, iv);
  cipher.setAAD(boundTo(version, key.id, owner, place));
  const encrypted = cipher.update(text, 'utf8');
  // GCM has nothing left to return.
  cipher.final();
  return sealedText(version, key.id, { iv, encrypted, tag: cipher.getAuthTag() });
}

/** What need not be opened again. */
export interface OpenedTexts {
  /** What was opened from just this text, with this key and for this place. */
  find(key: EncryptionKey, place: TextPlace, sealed: string): string | undefined;
  add(key: EncryptionKey, place: TextPlace, sealed: string, text: string): void;
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
  known?: OpenedTexts,
): string {
  const what = described(place);
  const form = sealedFormOf(text);
  if (!form) throw new PlainTextRefusedError(what);
  const { version } = form;
  const isTogether = version === SEALED_TOGETHER_VERSION;
  if (version !== SEALED_VERSION && !isTogether) throw new UnknownEncryptionVersionError(version, what);
  const key = keyOf(form.keyId);
  if (!key) throw new UnknownEncryptionKeyError(form.keyId, what);
  const bound = isTogether ? placeOfAll(place.field) : place;
  const remembered = known?.find(key, bound, text);
  const whole = remembered ?? openedWhole(key, owner, bound, form);
  const found = isTogether && whole !== undefined ? findTextById(place.id, whole) : whole;
  if (whole === undefined || found === undefined) throw new WrongEncryptionKeyError(key.id, what);
  if (remembered === undefined) known?.add(key, bound, text, whole);
  return found;
}

/** Undefined: it is another key, or somebody changed the text or moved it. */
function openedWhole(key: EncryptionKey, owner: TextOwner, place: TextPlace, form: SealedForm): string | undefined {
  const { iv, encrypted, tag } = sealedBytesIn(form);
  try {
    const decipher = createDecipheriv(ALGORITHM, key.key, iv, TAG);
    decipher.setAAD(boundTo(form.version, key.id, owner, place));
    decipher.setAuthTag(tag);
    const opened = decipher.update(encrypted);
    decipher.final();
    // Not by the decoder of the cipher, which is made for streams and costs more.
    return opened.toString('utf8');
  } catch {
    // The error of the cipher adds nothing, and must not quote the text.
    return undefined;
  }
}

/** What {@link sealTogether} has for an id. */
function findTextById(id: string, all: string): string | undefined {
  return (JSON.parse(all) as NamedText[]).find(([name]) => name === id)?.[1];
}

function described({ field }: TextPlace): string {
  return /^[aeio]/.test(field) ? `an ${field}` : `a ${field}`;
}

function boundTo(version: string, keyId: string, { appName, userId }: TextOwner, { field, id }: TextPlace): Buffer {
  return Buffer.from(JSON.stringify([version, keyId, appName ?? null, userId ?? null, field, id]));
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
