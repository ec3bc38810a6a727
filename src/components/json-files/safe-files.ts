import { constants } from 'node:fs';
import { type FileHandle, chmod, link, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
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

const ACCESS = {
  read: constants.O_RDONLY,
  write: constants.O_RDWR,
  // Writes go to the end, also while other programs append.
  append: constants.O_RDWR | constants.O_APPEND,
} as const;

/** Opens a file without following a link; `undefined` if there is none. */
export async function openFile(path: string, flags: keyof typeof ACCESS): Promise<FileHandle | undefined> {
  const access = ACCESS[flags];
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

/** How the names of files begin that are not complete. */
export const DRAFT = '.draft-';

/**
 * Replaces a file in one step: readers see the old or the new text, also after a crash. Returns how the file was changed.
 * `isSynced`: also after a loss of power.
 */
export async function replaceFile(path: string, content: string | Buffer, isSynced: boolean): Promise<string> {
  return fromDraft(path, content, isSynced, (draft) => rename(draft, path));
}

/** The same if nobody has changed the file until the last moment; without a state, if there is none. Else returns `undefined`. */
export async function replaceUnchanged(
  path: string,
  content: string,
  isSynced: boolean,
  isUnchanged: (() => Promise<boolean>) | undefined,
): Promise<string | undefined> {
  try {
    return await fromDraft(path, content, isSynced, async (draft) => {
      if (!isUnchanged) await link(draft, path);
      else if (await isUnchanged()) await rename(draft, path);
      else throw new ChangedError();
      await rm(draft, { force: true });
    });
  } catch (error) {
    if (error instanceof ChangedError || (!isUnchanged && hasCode(error, 'EEXIST'))) return undefined;
    throw error;
  }
}

class ChangedError extends Error {}

async function fromDraft(
  path: string,
  content: string | Buffer,
  isSynced: boolean,
  put: (draft: string) => Promise<void>,
): Promise<string> {
  const draft = join(dirname(path), `${DRAFT}${crypto.randomUUID()}`);
  try {
    const file = await open(draft, 'wx', OWNER_ONLY_FILE);
    let changed: string;
    try {
      await file.writeFile(content);
      if (isSynced) await file.sync();
      const { mode } = await file.stat();
      if ((mode & 0o777) !== OWNER_ONLY_FILE) await file.chmod(OWNER_ONLY_FILE);
      ({ changed } = await readFileState(file));
    } finally {
      await file.close();
    }
    await put(draft);
    if (isSynced) await syncFolder(dirname(path));
    return changed;
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** What tells whether anybody wrote to a file. */
export async function readFileState(file: FileHandle): Promise<{ readonly size: number; readonly changed: string }> {
  const { size, mtimeNs, ino } = await file.stat({ bigint: true });
  return { size: Number(size), changed: `${mtimeNs}-${ino}` };
}

/** Whether this is the file of that name, and no older one. */
export async function isFileAt(path: string, file: FileHandle): Promise<boolean> {
  try {
    return (await lstat(path, { bigint: true })).ino === (await file.stat({ bigint: true })).ino;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}

/** All of a file, wherever it was read before. */
export async function readWholeFile(file: FileHandle): Promise<Buffer> {
  const { size } = await file.stat();
  const content = Buffer.alloc(size);
  const { bytesRead } = await file.read(content, 0, size, 0);
  return content.subarray(0, bytesRead);
}

/** Whether what is appended has to begin with a line break. */
export async function lacksLineBreak(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  const last = Buffer.alloc(1);
  return size > 0 && (await file.read(last, 0, 1, size - 1)).bytesRead === 1 && last.toString() !== '\n';
}

const QUIET_MS = 1_000;

/** Whether nobody has written to a file for a second. Waits for that if it has to. */
export async function isQuiet(file: FileHandle): Promise<boolean> {
  const before = await readFileState(file);
  const age = Date.now() - (await file.stat()).mtimeMs;
  if (age < QUIET_MS) await wait(QUIET_MS - Math.max(0, age));
  const after = await readFileState(file);
  return after.size === before.size && after.changed === before.changed;
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
