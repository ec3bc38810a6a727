const MOST_CHARACTERS = 60;

/** The name of a file for what is called so: letters, digits and dashes, which all systems take. */
export function fileNameOf(title: string): string {
  const words = title.normalize('NFC').match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
  const name = Array.from(words.join('-')).slice(0, MOST_CHARACTERS).join('').replace(/-$/, '');
  return ['session', ...(name === '' ? [] : [name])].join('-') + '.html';
}
