import { readFileSync } from 'node:fs';
import { link, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ComponentFilesError } from '../component-errors.js';
import { DRAFT, hasCode, readFileText } from './safe-files.js';

interface Owner {
  readonly token: string;
  readonly host: string;
  readonly pid: number;
  /** When the process started, so that another process with its number is told apart. */
  readonly start: string;
}

/** How the names of locks begin under which locks of dead processes are removed. */
const REMOVAL = '.removal-';
const LONGEST_WAIT_MS = 15_000;
/** A lock of another machine is over after this time: its process cannot be looked up. */
const FOREIGN_LOCK_MS = 60_000;
const SELF: Omit<Owner, 'token'> = { host: hostOf(), pid: process.pid, start: readProcessStart(process.pid) ?? '' };

/**
 * Does work while no other process has the lock. A lock whose process is dead is taken over; one whose process is paused is not.
 * The work learns whether it was taken over.
 */
export async function withFileLock<Result>(
  path: string,
  work: (isTakenOver: boolean) => Promise<Result>,
): Promise<Result> {
  const until = performance.now() + LONGEST_WAIT_MS;
  const token = crypto.randomUUID();
  let isTakenOver = false;
  for (let pause = 1; !(await take(path, token)); pause = Math.min(2 * pause, 50)) {
    const found = await removeDead(path);
    isTakenOver ||= found === 'removed';
    if (performance.now() > until) {
      throw new ComponentFilesError(
        'Another process holds the lock of this session. Nothing was written: retry later.',
      );
    }
    if (found === 'held') await wait(pause + Math.random() * pause);
  }
  return held(path, token, () => work(isTakenOver));
}

/** Does work if no other process has the lock, else returns `undefined`. */
export async function withFreeFileLock<Result>(path: string, work: () => Promise<Result>): Promise<Result | undefined> {
  const token = crypto.randomUUID();
  const isTaken = (await take(path, token)) || ((await removeDead(path)) !== 'held' && (await take(path, token)));
  return isTaken ? held(path, token, work) : undefined;
}

/** Removes what dead processes left among locks. Returns the locks of work in which they died. */
export async function tidyLocks(folder: string): Promise<string[]> {
  const dead: string[] = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    // What is no file of ours stays.
    const owner = await readLockOwner(path).catch(() => undefined);
    if (!owner || !(await isDead(path, owner))) continue;
    if (name.startsWith(DRAFT)) await rm(path, { force: true });
    else if (name.startsWith(REMOVAL)) await removeDead(path);
    else dead.push(name);
  }
  return dead;
}

async function held<Result>(path: string, token: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } finally {
    if ((await readLockOwner(path))?.token === token) await rm(path, { force: true });
  }
}

/** A link appears with all of its content, and only one process can make it. */
async function take(path: string, token: string): Promise<boolean> {
  const draft = join(dirname(path), `${DRAFT}${token}`);
  await writeFile(draft, JSON.stringify({ token, ...SELF }), { mode: 0o600 });
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Removes the lock of a dead process. Whoever removes it holds a lock of its own, named after the dead one, and looks again.
 * So a lock that was taken meanwhile stays.
 */
async function removeDead(path: string): Promise<'gone' | 'held' | 'removed'> {
  const owner = await readLockOwner(path);
  if (!owner) return 'gone';
  if (!(await isDead(path, owner))) return 'held';
  // Of constant length, however many removals died before this one.
  const removal = join(dirname(path), `${REMOVAL}${owner.token}`);
  const token = crypto.randomUUID();
  if (!(await take(removal, token))) return removeDead(removal);
  if ((await readLockOwner(path))?.token === owner.token) await rm(path, { force: true });
  await rm(removal, { force: true });
  return 'removed';
}

async function readLockOwner(path: string): Promise<Owner | undefined> {
  const text = await readFileText(path);
  return text === undefined ? undefined : parsedOwner(text);
}

/** Its token becomes a part of a file name. */
function parsedOwner(text: string): Owner {
  try {
    const owner = JSON.parse(text) as Owner | null;
    if (owner && /^[\w-]+$/.test(owner.token)) return owner;
  } catch {
    // Nobody of us wrote it.
  }
  return { token: 'unknown', host: '', pid: 0, start: '' };
}

async function isDead(path: string, { host, pid, start }: Owner): Promise<boolean> {
  if (host !== SELF.host) {
    const stats = await stat(path).catch(() => undefined);
    return stats !== undefined && Date.now() - stats.mtimeMs > FOREIGN_LOCK_MS;
  }
  try {
    process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'ESRCH');
  }
  const now = readProcessStart(pid);
  return now !== undefined && start !== '' && now !== start;
}

/** This machine since it was started. */
function hostOf(): string {
  return `${hostname()} ${readText('/proc/sys/kernel/random/boot_id')?.trim() ?? ''}`;
}

/** Field 22 of the process's status on Linux; the name before it may have spaces and brackets. */
function readProcessStart(pid: number): string | undefined {
  const text = readText(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ')[19];
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
