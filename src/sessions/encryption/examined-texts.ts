import { EncryptionError } from '../domain/errors/encryption-errors.js';
import { sealedFormOf } from '../domain/stored/sealed-form.js';
import type { TextPlace } from './sealed-text.js';
import type { Open, OwnerCipher } from './owner-cipher.js';

/** What a stored text turned out to be. */
export interface ExaminedText {
  readonly place: TextPlace;
  readonly isPlain: boolean;
  /** Why it cannot be opened. */
  readonly problem?: EncryptionError | undefined;
}

/**
 * Opens all texts of an answer of the store. One that cannot be opened does not hide the others.
 *
 * @param map pure: it may be called twice
 * @example const texts = await examinedTexts(cipher, (open) => openedSession(stored, open));
 */
export async function examinedTexts(
  cipher: OwnerCipher,
  map: (open: Open) => unknown,
): Promise<readonly ExaminedText[]> {
  return cipher.opened((open) => {
    const texts: ExaminedText[] = [];
    map((owner, place, text) => {
      const isPlain = !sealedFormOf(text);
      try {
        const opened = open(owner, place, text);
        texts.push({ place, isPlain });
        return opened;
      } catch (error) {
        if (!(error instanceof EncryptionError)) throw error;
        texts.push({ place, isPlain, problem: error });
        return '';
      }
    });
    return texts;
  });
}
