import { constants } from 'node:fs';
import { type FileHandle, chmod, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ComponentFilesError } from '../component-errors.js';

const OWNER_ONLY_FILE = 0o600;
export const OWNER_ONLY_FOLDER = 0o700;

/** Whether an error of the file system has this code. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Creates a folder that only its owner can use, or checks that it is a real one. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: OWNER_ONLY_FOLDER });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    await hasFolder(path);
    return;
  }
  // The umask may have taken rights of the owner.
  await chmod(path, OWNER_ONLY_FOLDER);
}

/** Whether there is such a folder. Refuses a link or a file in its place. */
export async function hasFolder(path: string): Promise<boolean> {
  try {
    const stats = await lstat(path);
    if (stats.isDirectory()) return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
  throw notOurs(path);
}

/** Opens a file without following a link; `undefined` if there is none. */
export async function openFile(path: string, flags: 'read' | 'write'): Promise<FileHandle | undefined> {
  const access = flags === 'read' ? constants.O_RDONLY : constants.O_RDWR;
  try {
    // Without O_NONBLOCK, a pipe in place of the file would block for ever.
    const file = await open(path, access | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
    await file.close();
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    if (!hasCode(error, 'ELOOP', 'ENXIO', 'EISDIR')) throw error;
  }
  throw notOurs(path);
}

/** Reads a small file; `undefined` if there is none. */
export async function readFileText(path: string): Promise<string | undefined> {
  const file = await openFile(path, 'read');
  if (!file) return undefined;
  try {
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/**
 * Replaces a file in one step: readers see the old or the new text, also after a crash. Returns its time of change.
 * `isSynced`: also after a loss of power.
 */
export async function replaceFile(path: string, content: string | Buffer, isSynced: boolean): Promise<bigint> {
  const draft = join(dirname(path), `.draft-${crypto.randomUUID()}`);
  try {
    const file = await open(draft, 'wx', OWNER_ONLY_FILE);
    let changed: bigint;
    try {
      await file.writeFile(content);
      if (isSynced) await file.sync();
      const stats = await file.stat({ bigint: true });
      if ((Number(stats.mode) & 0o777) !== OWNER_ONLY_FILE) await file.chmod(OWNER_ONLY_FILE);
      changed = stats.mtimeNs;
    } finally {
      await file.close();
    }
    await rename(draft, path);
    if (isSynced) await syncFolder(dirname(path));
    return changed;
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Makes names in a folder survive a loss of power. Not every system can. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined);
  try {
    await folder?.sync();
  } catch {
    // Windows and some network file systems refuse it.
  } finally {
    await folder?.close();
  }
}

function notOurs(path: string): ComponentFilesError {
  return new ComponentFilesError(`${path} is a link, or not what the store made. Remove it, or use another folder.`);
}
