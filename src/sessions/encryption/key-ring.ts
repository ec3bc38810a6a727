import { DamagedDataError, storedJson } from '../domain/stored/stored-json.js';
import { isPlainObject } from '../domain/values/json-value.js';
import type { EncryptionKey } from './sealed-text.js';

/** A data key as it is stored. */
export interface WrappedKey {
  readonly id: string;
  readonly wrapped: string;
  /** The key that has wrapped it. */
  readonly by: string;
}

/** The data keys of an owner as they are stored: the last one encrypts, and the others open what they have encrypted. */
export type WrappedRing = readonly [WrappedKey, ...WrappedKey[]];

const WHAT = 'keys of encryption';

export function ringText(ring: WrappedRing): string {
  return JSON.stringify({ v: 1, keys: ring });
}

export function ringIn(text: string): WrappedRing {
  const stored = storedJson(text, WHAT);
  const keys = isPlainObject(stored) && stored.v === 1 ? stored.keys : undefined;
  if (!Array.isArray(keys) || !keys.every(isWrappedKey)) throw new DamagedDataError(WHAT);
  const [first, ...others] = keys as readonly WrappedKey[];
  if (!first) throw new DamagedDataError(WHAT);
  return [first, ...others];
}

function isWrappedKey(value: unknown): value is WrappedKey {
  return isPlainObject(value) && ['id', 'wrapped', 'by'].every((name) => typeof value[name] === 'string');
}

/** The data keys of an owner, to work with. */
export class KeyRing {
  readonly #keys: ReadonlyMap<string, EncryptionKey | Error>;
  readonly #first: EncryptionKey | Error | undefined;
  readonly #current: EncryptionKey | Error | undefined;

  /** @param keys the oldest first; an error in the place of one that cannot be unwrapped, which fails what needs it */
  constructor(keys: readonly (readonly [id: string, key: EncryptionKey | Error])[]) {
    this.#keys = new Map(keys);
    this.#first = keys.at(0)?.[1];
    this.#current = keys.at(-1)?.[1];
  }

  /** Encrypts what is new. */
  get current(): EncryptionKey {
    return this.#usable(this.#current);
  }

  /** Stays the same after rotations: for what stores compare. */
  get first(): EncryptionKey {
    return this.#usable(this.#first);
  }

  find(id: string): EncryptionKey | undefined {
    const key = this.#keys.get(id);
    return key && this.#usable(key);
  }

  #usable(key: EncryptionKey | Error | undefined): EncryptionKey {
    if (!key || key instanceof Error) throw key ?? new Error('A ring has a key');
    return key;
  }
}
