import type { RemoteKey } from '../../../src/client/index.js';
import type { SessionReads } from '../session-reads.js';
import { fileNameOf } from './file-name.js';
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
