import type { RemoteKey } from '../../../src/client/index.js';
import type { SessionReads } from '../session-reads.js';
import { type ReadCopyOptions, readCopy } from './read-copy.js';

/** The page of a copy, before and after its data: `inspector/copy-page.mjs` builds it into this script. */
declare const COPY_PAGE: { readonly head: string; readonly tail: string };

/** A file to save. */
export interface CopyFile {
  readonly name: string;
  readonly parts: readonly string[];
}

/** Makes a page of a session that needs no server: everything is in it. */
export async function copyFile(reads: SessionReads, key: RemoteKey, options: ReadCopyOptions): Promise<CopyFile> {
  const { session, json } = await readCopy(reads, key, options);
  return { name: fileNameOf(session.metadata.title ?? session.id), parts: [COPY_PAGE.head, ...json, COPY_PAGE.tail] };
}

const MOST_CHARACTERS = 60;

/** The name of a file for what is called so: letters, digits and dashes, which all systems take. */
export function fileNameOf(title: string): string {
  const words = title.normalize('NFC').match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
  const name = Array.from(words.join('-')).slice(0, MOST_CHARACTERS).join('').replace(/-$/, '');
  return ['session', ...(name === '' ? [] : [name])].join('-') + '.html';
}
