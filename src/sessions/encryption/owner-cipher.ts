import { EncryptionError, UnknownEncryptionKeyError } from '../domain/encryption-errors.js';
import { sealedFormOf } from '../domain/sealed-form.js';
import type { DataKeys, KeyAge } from './data-keys.js';
import { type TextOwner, type TextPlace, openText, sealEqually, sealText } from './sealed-text.js';
import { nameOfOwner } from './key-places.js';
import type { KeyRing } from './key-ring.js';

/** Encrypts a text. */
export type Seal = (owner: TextOwner, place: TextPlace, text: string) => string;

/** Opens a text. */
export type Open = (owner: TextOwner, place: TextPlace, text: string) => string;

/** Encrypts for owners whose keys are there. */
export interface Sealing {
  readonly seal: Seal;
  /** For texts that a store compares: the same text for the same place, also after a rotation. */
  readonly sealEqually: Seal;
}

/** The keys of an owner, nothing, or why they are not known. */
type FoundRing = KeyRing | EncryptionError | undefined;

/** Encrypts and opens texts with the keys of their owners. */
export class OwnerCipher {
  constructor(
    private readonly keys: DataKeys,
    private readonly allowPlain: boolean,
  ) {}

  /** For texts of these owners. */
  async sealing(owners: readonly TextOwner[], age: KeyAge = 'fresh'): Promise<Sealing> {
    const rings = new Map<string, KeyRing>();
    for (const owner of owners)
      rings.set(nameOfOwner(owner), this.keys.known(owner, age) ?? (await this.keys.ensured(owner)));
    const ringOf = (owner: TextOwner): KeyRing => {
      const ring = rings.get(nameOfOwner(owner));
      if (!ring) throw new Error('A text is encrypted for an owner whose key was not asked for');
      return ring;
    };
    return {
      seal: (owner, place, text) => sealText(ringOf(owner).current, owner, place, text),
      sealEqually: (owner, place, text) => sealEqually(ringOf(owner).first, owner, place, text),
    };
  }

  /**
   * Opens all texts of an answer. If keys are missing in this process, they are read together, and the answer is mapped again.
   *
   * @param map pure: it may be called twice
   */
  async opened<Result>(map: (open: Open) => Result): Promise<Result> {
    const rings = new Map<string, FoundRing>();
    const wanted = new Map<string, TextOwner>();
    const ringOf = (owner: TextOwner): FoundRing => {
      const name = nameOfOwner(owner);
      if (!rings.has(name)) rings.set(name, this.keys.known(owner));
      return rings.get(name);
    };
    const result = map((owner, place, text) =>
      this.#open(owner, place, text, ringOf(owner), () => {
        wanted.set(nameOfOwner(owner), owner);
        return '';
      }),
    );
    if (wanted.size === 0) return result;
    const read = await this.#ringsOf([...wanted.values()]);
    for (const [index, name] of [...wanted.keys()].entries()) rings.set(name, read[index]);
    return map((owner, place, text) =>
      this.#open(owner, place, text, ringOf(owner), (error) => {
        throw error;
      }),
    );
  }

  /** A data key that cannot be unwrapped fails the texts of its owner, and not those of the others. */
  async #ringsOf(owners: readonly TextOwner[]): Promise<readonly FoundRing[]> {
    try {
      return await this.keys.read(owners);
    } catch (error) {
      if (!(error instanceof EncryptionError)) throw error;
      if (owners.length === 1) return [error];
      const rings: FoundRing[] = [];
      for (const owner of owners) rings.push(...(await this.#ringsOf([owner])));
      return rings;
    }
  }

  #open(
    owner: TextOwner,
    place: TextPlace,
    text: string,
    ring: FoundRing,
    onUnknown: (error: UnknownEncryptionKeyError) => string,
  ): string {
    if (this.allowPlain && !sealedFormOf(text)) return text;
    if (ring instanceof EncryptionError) throw ring;
    try {
      return openText((id) => ring?.find(id), owner, place, text);
    } catch (error) {
      if (error instanceof UnknownEncryptionKeyError) return onUnknown(error);
      throw error;
    }
  }
}
