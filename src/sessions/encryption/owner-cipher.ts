import { EncryptionError, UnknownEncryptionKeyError } from '../domain/errors/encryption-errors.js';
import { sealedFormOf } from '../domain/stored/sealed-form.js';
import type { OwnerKeys, KeyAge } from './owner-keys.js';
import {
  type NamedText,
  type TextOwner,
  type TextPlace,
  openText,
  sealEqually,
  sealText,
  sealTogether,
} from './sealed-text.js';
import { nameOfOwner } from './key-places.js';
import type { KeyRing } from './key-ring.js';
import { RecentTexts } from './recent-texts.js';

/** Encrypts a text. */
export type Seal = (owner: TextOwner, place: TextPlace, text: string) => string;

/** Opens a text. */
export type Open = (owner: TextOwner, place: TextPlace, text: string) => string;

/** Encrypts for owners whose keys are there. */
export interface Sealing {
  readonly seal: Seal;
  /** For texts that a store compares: the same text for the same place, also after a rotation. */
  readonly sealEqually: Seal;
  /** Encrypts short texts of one field as one, which costs less than each by itself. The result is for the places of all. */
  readonly sealTogether: (owner: TextOwner, field: string, texts: readonly NamedText[]) => string;
}

/** The keys of an owner, nothing, or why they are not known. */
type FoundRing = KeyRing | EncryptionError | undefined;

/** Encrypts and opens texts with the keys of their owners. */
export class OwnerCipher {
  readonly #recent = new RecentTexts();

  constructor(
    private readonly keys: OwnerKeys,
    private readonly allowPlain: boolean,
  ) {}

  /** For texts of these owners. */
  async sealing(owners: readonly TextOwner[], age: KeyAge = 'fresh'): Promise<Sealing> {
    const rings: KeyRing[] = [];
    for (const owner of owners) rings.push(this.keys.known(owner, age) ?? (await this.keys.ensured(owner)));
    return sealingBy(owners, rings, this.#recent);
  }

  /** The same, if this process knows the keys of all owners. */
  knownSealing(owners: readonly TextOwner[], age: KeyAge): Sealing | undefined {
    const rings = owners.flatMap((owner) => this.keys.known(owner, age) ?? []);
    return rings.length === owners.length ? sealingBy(owners, rings, this.#recent) : undefined;
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
      return openText((id) => ring?.find(id), owner, place, text, this.#recent);
    } catch (error) {
      if (error instanceof UnknownEncryptionKeyError) return onUnknown(error);
      throw error;
    }
  }
}

function sealingBy(owners: readonly TextOwner[], rings: readonly KeyRing[], recent: RecentTexts): Sealing {
  const ringOf = ({ appName, userId }: TextOwner): KeyRing => {
    const ring = rings[owners.findIndex((owner) => owner.appName === appName && owner.userId === userId)];
    if (!ring) throw new Error('A text is encrypted for an owner whose key was not asked for');
    return ring;
  };
  return {
    seal: (owner, place, text) => sealText(ringOf(owner).current, owner, place, text, recent),
    sealEqually: (owner, place, text) => sealEqually(ringOf(owner).first, owner, place, text),
    sealTogether: (owner, field, texts) => sealTogether(ringOf(owner).current, owner, field, texts, recent),
  };
}
