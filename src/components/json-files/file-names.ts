import { hash } from 'node:crypto';

/** A file name has at most 255 bytes, and needs room for its endings. */
const MAX_LENGTH = 180;
const PLAIN = /^[a-z0-9_-][a-z0-9_.-]*$/;
/** Names that Windows keeps for itself, with any ending. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/;
/** The hash of a name that is too long; no other name begins like this. */
const HASHED = /^~[0-9a-f]{64}$/;

/**
 * A file name for an id: the id itself if it is plain, otherwise with `%` escapes, or a hash if that is too long. Capital letters
 * are escaped, because some file systems take `a` and `A` for the same. It never begins with a dot, and two ids never share one.
 */
export function fileNameOf(id: string): string {
  const name = PLAIN.test(id) && !RESERVED.test(id) && !id.endsWith('.') ? id : escaped(id);
  return name.length <= MAX_LENGTH ? name : `~${hash('sha256', id)}`;
}

/** The id of a file name, or `undefined` if only the folder knows it, or if it is no name of {@link fileNameOf}. */
export function idOfFileName(name: string): string | undefined {
  if (HASHED.test(name)) return undefined;
  try {
    const id = decodeURIComponent(name);
    return fileNameOf(id) === name ? id : undefined;
  } catch {
    return undefined;
  }
}

/** Escapes the first character always, and others unless they are plain. */
function escaped(id: string): string {
  const bytes = [...Buffer.from(id)];
  return bytes
    .map((byte, index) => {
      const character = String.fromCharCode(byte);
      const isPlain = index > 0 && index < bytes.length - 1 ? /[a-z0-9_.-]/ : /[a-z0-9_-]/;
      const isReservedStart = index === 0 && RESERVED.test(id);
      return isPlain.test(character) && !isReservedStart
        ? character
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}
