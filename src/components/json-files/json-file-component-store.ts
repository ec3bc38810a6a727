import { chmod, mkdir, readdir, realpath, rename, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { checkedClock } from '../../sessions/domain/process/checked-clock.js';
import type { Clock } from '../../sessions/domain/process/clock.js';
import { SessionsError } from '../../sessions/domain/errors/errors.js';
import { expiresAt, isExpired, NEVER } from '../../sessions/domain/values/expiry.js';
import { compareBytes } from '../../sessions/domain/values/ids.js';
import type {
  ComponentContents,
  ComponentSessionsRequest,
  ComponentStore,
} from '../../sessions/storage/component-store.js';
import { ComponentFilesError } from '../component-errors.js';
import {
  type ComponentHead,
  type ComponentPlace,
  type ComponentWrite,
  type ComponentWriteOutcome,
  type StoredComponent,
  componentWriteOutcome,
} from '../../sessions/domain/stored/component.js';
import { checkOptions } from '../../sessions/domain/values/given-options.js';
import { KeyedQueue } from '../../sessions/domain/process/keyed-queue.js';
import { ComponentFolder } from './component-folder.js';
import { fileNameOf, idOfFileName } from './file-names.js';
import { tidyLocks, withFileLock, withFreeFileLock } from './folder-lock.js';
import { hasCode, makeFolder, OWNER_ONLY_FOLDER } from './safe-files.js';

const LOCKS = '.locks';
const LOCK = '.lock';
/** No session has a lock of this name. */
const PURGE_LOCK = '.purge';
const DISCARDED = '.discarded-';
/** An expiry is moved on when this part of its time is over, so that few saves write it. */
const RENEWED_AFTER = 0.1;

/** Where the files are. */
export interface JsonFileComponentStoreOptions {
  /** The folder; it is made if it is missing, for its owner only. */
  readonly root: string;
  /** Whether a save waits for the disk, and so survives a loss of power. Default: true. It survives a crash anyway. */
  readonly isSynced?: boolean | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Keeps component state in a folder for each session, `{name}.json` for a value and `{name}.jsonl` for a list. Any number of
 * processes of a machine may share the folder. What a save acknowledged survives a crash; what it did not is not there in part.
 *
 * @example
 * const components = new ComponentSession({ store: new JsonFileComponentStore({ root: './data/components' }) });
 */
export class JsonFileComponentStore implements ComponentStore {
  readonly #clock: Clock;
  readonly #given: string;
  readonly #isSynced: boolean;
  #root: Promise<string> | undefined;
  /** Work on a session in this process waits here. Processes exclude each other by files, which costs more. */
  readonly #queue = new KeyedQueue();

  constructor(options: JsonFileComponentStoreOptions) {
    checkOptions('JsonFileComponentStore', options, { root: 'path', isSynced: 'flag?', clock: 'clock?' });
    const { root, isSynced = true, clock } = options;
    this.#given = resolve(root);
    this.#isSynced = isSynced;
    this.#clock = checkedClock(clock);
  }

  /**
   * Makes the folder, or says why it cannot be used. Without it, the first use of the store does so.
   * @example await store.open();
   */
  async open(): Promise<void> {
    await guarded(() => this.#open());
  }

  read(place: ComponentPlace, part?: 'head'): Promise<StoredComponent | undefined> {
    return guarded(async () => {
      const folder = await this.#folderOf(place.session);
      if (!(await folder.exists()) || (await this.#isExpired(folder))) return undefined;
      const found = await folder.find(place, part);
      return found === 'changed' ? this.#locked(place.session, () => folder.mend(place)) : found;
    });
  }

  write(write: ComponentWrite): Promise<ComponentWriteOutcome> {
    const { place, ttlMs } = write;
    return this.#locked(place.session, async (folder) => {
      const now = this.#clock.now();
      let note = (await folder.exists()) ? await folder.sessionNote() : undefined;
      if (note && isExpired(note.expiresAt, now)) {
        await this.#discard(folder);
        note = undefined;
      }
      const head = (await folder.exists()) ? await currentHead(folder, place) : undefined;
      const outcome = componentWriteOutcome(head, write);
      if (outcome.kind === 'conflict') return outcome;
      await folder.make();
      if (!note || isRenewable(note.expiresAt, now, ttlMs)) await noteExpiry(folder, place.session, now, ttlMs);
      return outcome.version === head?.version ? outcome : folder.write(write, outcome.version);
    });
  }

  remove(session: string, name?: string): Promise<void> {
    return this.#locked(session, async (folder) => {
      if (!(await folder.exists())) return;
      if (name !== undefined) {
        for (const kind of ['value', 'list'] as const) await folder.remove({ session, name, kind });
        if ((await folder.places(session)).length > 0) return;
      }
      await this.#discard(folder);
    });
  }

  places(session: string): Promise<ComponentContents> {
    return guarded(async () => {
      const now = this.#clock.now();
      const folder = await this.#folderOf(session);
      const isThere = (await folder.exists()) && !(await this.#isExpired(folder));
      const places = isThere ? await folder.places(session) : [];
      if (places.length === 0) return { now, places };
      return { now, expiresAt: (await folder.sessionNote())?.expiresAt ?? NEVER, places };
    });
  }

  sessions({ after, limit }: ComponentSessionsRequest): Promise<string[]> {
    return guarded(async () => {
      const found: string[] = [];
      for (const folder of await this.#folders()) {
        const id = await readFolderSessionId(folder);
        if (id === undefined || (after !== undefined && compareBytes(id, after) <= 0)) continue;
        if (!(await this.#isExpired(folder)) && (await folder.places(id)).length > 0) found.push(id);
      }
      return found.toSorted(compareBytes).slice(0, limit);
    });
  }

  /** One process purges at a time; another one removes nothing. */
  purgeExpired(limit: number): Promise<number> {
    return guarded(async () => {
      const root = await this.#open();
      return (await withFreeFileLock(join(root, LOCKS, PURGE_LOCK), () => this.#purge(root, limit))) ?? 0;
    });
  }

  async #purge(root: string, limit: number): Promise<number> {
    await this.#tidy(root);
    for (const name of await readdir(root)) {
      if (name.startsWith(DISCARDED)) await rm(join(root, name), { recursive: true, force: true });
    }
    let count = 0;
    let failure: unknown;
    for (const folder of await this.#folders()) {
      if (count === limit) break;
      try {
        if (await this.#removeExpired(folder)) count++;
      } catch (error) {
        // One damaged folder keeps none of the others.
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    return count;
  }

  async #removeExpired(folder: ComponentFolder): Promise<boolean> {
    const id = (await this.#isExpired(folder)) ? await readFolderSessionId(folder) : undefined;
    if (id === undefined) return false;
    return this.#locked(id, async () => {
      const isExpiredStill = await this.#isExpired(folder);
      if (isExpiredStill) await this.#discard(folder);
      return isExpiredStill;
    });
  }

  /** Waits for running work. */
  async close(): Promise<void> {
    await this.#queue.settled();
  }

  #locked<Result>(session: string, work: (folder: ComponentFolder) => Promise<Result>): Promise<Result> {
    return this.#queue.run(session, () =>
      guarded(async () => {
        const folder = await this.#folderOf(session);
        const lock = join(await this.#open(), LOCKS, `${fileNameOf(session)}${LOCK}`);
        return withFileLock(lock, async (isTakenOver) => {
          if (isTakenOver) await folder.tidy();
          return work(folder);
        });
      }),
    );
  }

  async #folderOf(session: string): Promise<ComponentFolder> {
    return new ComponentFolder(join(await this.#open(), fileNameOf(session)), this.#isSynced);
  }

  async #folders(): Promise<ComponentFolder[]> {
    const root = await this.#open();
    const entries = await readdir(root, { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
    return folders.map(({ name }) => new ComponentFolder(join(root, name), this.#isSynced));
  }

  async #isExpired(folder: ComponentFolder): Promise<boolean> {
    const note = await folder.sessionNote();
    return note !== undefined && isExpired(note.expiresAt, this.#clock.now());
  }

  /** In one step for others, however much there is to remove. */
  async #discard(folder: ComponentFolder): Promise<void> {
    const discarded = join(await this.#open(), `${DISCARDED}${crypto.randomUUID()}`);
    await rename(folder.path, discarded);
    await rm(discarded, { recursive: true, force: true });
  }

  #open(): Promise<string> {
    this.#root ??= this.#openRoot().catch((error: unknown) => {
      this.#root = undefined;
      throw error;
    });
    return this.#root;
  }

  async #openRoot(): Promise<string> {
    const root = await openRoot(this.#given);
    // Whoever needs these files meets the failure.
    await this.#tidy(root).catch(() => undefined);
    return root;
  }

  /** Removes what processes left that died. */
  async #tidy(root: string): Promise<void> {
    for (const lock of await tidyLocks(join(root, LOCKS))) {
      if (!lock.endsWith(LOCK)) continue;
      const folder = new ComponentFolder(join(root, lock.slice(0, -LOCK.length)), this.#isSynced);
      await withFreeFileLock(join(root, LOCKS, lock), () => folder.tidy());
    }
  }
}

async function openRoot(given: string): Promise<string> {
  const made = await mkdir(given, { recursive: true, mode: OWNER_ONLY_FOLDER });
  if (made !== undefined) await chmod(given, OWNER_ONLY_FOLDER);
  const root = await realpath(given);
  await makeFolder(join(root, LOCKS));
  return root;
}

/** The id of the session of a folder; nothing if the folder is not one of the store. */
async function readFolderSessionId(folder: ComponentFolder): Promise<string | undefined> {
  const name = basename(folder.path);
  const id = idOfFileName(name) ?? (await folder.sessionNote())?.id;
  return id !== undefined && fileNameOf(id) === name ? id : undefined;
}

async function currentHead(folder: ComponentFolder, place: ComponentPlace): Promise<ComponentHead | undefined> {
  const head = await folder.find(place, 'head');
  return head === 'changed' ? folder.mend(place) : head;
}

function isRenewable(expiry: number, now: number, ttlMs: number | undefined): boolean {
  return ttlMs !== undefined && Math.abs(expiresAt(now, { ttlMs }) - expiry) > RENEWED_AFTER * ttlMs;
}

async function noteExpiry(folder: ComponentFolder, id: string, now: number, ttlMs: number | undefined): Promise<void> {
  await folder.noteSession({ id, expiresAt: ttlMs === undefined ? NEVER : expiresAt(now, { ttlMs }) });
}

const ADVICE: readonly (readonly [codes: readonly string[], advice: string])[] = [
  [['EACCES', 'EPERM', 'EROFS'], 'Give the process the right to write to its folder.'],
  [['EEXIST', 'ENOTDIR'], 'Something else stands where its folder should be: remove it, or give another root.'],
];
const SEE_CAUSE = 'See the cause. If this was a save, it may have happened: load before you save again.';

/** Says what to do about a failure of the file system. */
async function guarded<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SessionsError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    const [, advice] = ADVICE.find(([codes]) => hasCode(error, ...codes)) ?? [[], SEE_CAUSE];
    throw new ComponentFilesError(`The files of component state cannot be used (${code}). ${advice}`, { cause: error });
  }
}
