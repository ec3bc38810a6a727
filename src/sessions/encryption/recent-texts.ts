import { BoundedMap } from '../domain/process/bounded-map.js';
import type { EncryptionKey, OpenedTexts, TextPlace } from './sealed-text.js';

/** Of all texts together, as they are stored and as they are read. */
const MOST_CHARACTERS = 8_388_608;
/** Longer ones would leave no room for others. */
const LONGEST_TEXT = 65_536;
/** The tag of the cipher is the end of an encrypted text. */
const TAG_CHARACTERS = 22;

interface RecentText {
  readonly key: EncryptionKey;
  readonly place: TextPlace;
  readonly sealed: string;
  readonly text: string;
}

/**
 * The texts that this process encrypted or opened last. Most of them are read again soon, for a view, a list or a checkpoint, and to compare
 * a text costs less than to open it.
 */
export class RecentTexts implements OpenedTexts {
  readonly #texts = new BoundedMap<RecentText>(MOST_CHARACTERS, ({ sealed, text }) => sealed.length + text.length);

  find(key: EncryptionKey, { field, id }: TextPlace, sealed: string): string | undefined {
    const found = this.#texts.get(tagOf(sealed));
    const isSame =
      found?.sealed === sealed && found.key === key && found.place.field === field && found.place.id === id;
    return isSame ? found.text : undefined;
  }

  add(key: EncryptionKey, place: TextPlace, sealed: string, text: string): void {
    if (sealed.length <= LONGEST_TEXT) this.#texts.set(tagOf(sealed), { key, place, sealed, text });
  }
}

function tagOf(sealed: string): string {
  return sealed.slice(-TAG_CHARACTERS);
}
