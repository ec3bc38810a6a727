import { readdir, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../../config/setting.js';
import { ComponentFilesError } from '../component-errors.js';
import {
  type ComponentHead,
  type ComponentPlace,
  type ComponentWrite,
  type ComponentWriteOutcome,
  type StoredComponent,
  EMPTY_DIGEST,
  digestAfter,
} from '../../sessions/domain/stored/component.js';
import { appendedLines, blankLine, countedBytes, fileContent, textsIn } from './file-content.js';
import { fileNameOf, idOfFileName } from './file-names.js';
import {
  DRAFT,
  readWholeFile,
  hasFolder,
  isFileAt,
  isQuiet,
  lacksLineBreak,
  makeFolder,
  openFile,
  readFileText,
  replaceFile,
  replaceUnchanged,
  readFileState,
} from './safe-files.js';

/** What is noted beside a file. The file has the content: a note only saves reading it, and has its version. */
interface Note extends ComponentHead {
  readonly name: string;
  /** How much of the file counts. */
  readonly bytes: number;
  /** Size and time of the file. They tell that nobody else wrote to it. */
  readonly size: number;
  readonly changed: string;
}

/** What is noted of a session. */
export interface SessionNote {
  readonly id: string;
  readonly expiresAt: number;
}

const NOTES = '.notes';
const SESSION_NOTE = '.session';
const COUNTS = ['version', 'length', 'bytes', 'size'] as const;
const ENDINGS = { value: '.json', list: '.jsonl' } as const;

/** The folder of a session: `{name}.json` and `{name}.jsonl`, and a note beside each in `.notes`. */
export class ComponentFolder {
  /** @param isSynced whether writes wait for the disk */
  constructor(
    readonly path: string,
    private readonly isSynced: boolean,
  ) {}

  exists(): Promise<boolean> {
    return hasFolder(this.path);
  }

  async make(): Promise<void> {
    await makeFolder(this.path);
    await makeFolder(join(this.path, NOTES));
  }

  async sessionNote(): Promise<SessionNote | undefined> {
    const note = await this.#note<SessionNote>(SESSION_NOTE);
    return typeof note?.id === 'string' && typeof note.expiresAt === 'number' ? (note as SessionNote) : undefined;
  }

  async noteSession(note: SessionNote): Promise<void> {
    await replaceFile(join(this.path, NOTES, SESSION_NOTE), JSON.stringify(note), this.isSynced);
  }

  /** What is stored, or its head without the texts, if it is as noted. Needs no lock. */
  async find(place: ComponentPlace, part?: 'head'): Promise<StoredComponent | undefined | 'changed'> {
    return this.#opened(place, async (file, note) => {
      if (!note || !(await isAsNoted(file, note))) return 'changed';
      if (part === 'head') return { ...note, texts: [] };
      const texts = textsIn(place, (await readWholeFile(file)).subarray(0, note.bytes));
      // It was replaced while it was read.
      return texts.length === note.length ? { ...note, texts } : 'changed';
    });
  }

  /**
   * What is stored, after a crash or a change by others was noticed and noted. Never writes to the file: another program may be
   * about to. Needs the lock.
   *
   * @param versions that a change makes
   */
  async mend(place: ComponentPlace, versions = 1): Promise<StoredComponent | undefined> {
    return this.#opened(place, async (file, note) => {
      const content = await readWholeFile(file);
      const bytes = countedBytes(place, content);
      const texts = textsIn(place, content.subarray(0, bytes));
      const digest = digestAfter(EMPTY_DIGEST, texts);
      const isSame = note?.digest === digest && note.length === texts.length;
      const version = (note?.version ?? 0) + (isSame ? 0 : versions);
      const head = { version, length: texts.length, digest };
      const { changed } = await readFileState(file);
      await makeFolder(join(this.path, NOTES));
      await this.#save(place, { ...head, bytes, size: content.length, changed });
      return { ...head, texts };
    });
  }

  /** Writes, unless another program has changed the list since it was noted. Needs the lock. */
  async write(write: ComponentWrite, version: number): Promise<ComponentWriteOutcome> {
    const { place, keep, texts, digest, expectedVersion } = write;
    if (place.kind === 'value') {
      const changed = await replaceFile(this.#pathOf(place), fileContent(place, texts), this.isSynced);
      return this.#written(
        place,
        { version, length: 1, digest },
        Buffer.byteLength(fileContent(place, texts)),
        changed,
      );
    }
    const isAppend = keep > 0;
    const isForced = !isAppend && expectedVersion === undefined;
    const file = await openFile(this.#pathOf(place), 'append');
    try {
      const note = await this.#noteOf(place);
      const isNoted = file !== undefined && note !== undefined && (await isAsNoted(file, note));
      if (isAppend)
        return file && isNoted ? await this.#append(write, version, file, note) : await this.#conflict(place);
      if (file && !isNoted && !isForced) return await this.#conflict(place);
      return await this.#replace(write, version, file, isNoted ? note : undefined);
    } finally {
      await file?.close();
    }
  }

  async places(session: string): Promise<ComponentPlace[]> {
    const places: ComponentPlace[] = [];
    for (const entry of await readdir(this.path, { withFileTypes: true })) {
      const kind = entry.name.endsWith(ENDINGS.list) ? 'list' : 'value';
      if (!entry.isFile() || entry.name.startsWith('.') || !entry.name.endsWith(ENDINGS[kind])) continue;
      const plain = idOfFileName(entry.name.slice(0, -ENDINGS[kind].length));
      const name = plain ?? (await this.#note<Note>(entry.name))?.name;
      if (typeof name === 'string') places.push({ session, name, kind });
    }
    return places;
  }

  /** Removes what a process left that died while it wrote. Needs the lock. */
  async tidy(): Promise<void> {
    for (const folder of [this.path, join(this.path, NOTES)]) {
      const names = (await hasFolder(folder)) ? await readdir(folder) : [];
      for (const name of names) if (name.startsWith(DRAFT)) await rm(join(folder, name), { force: true });
    }
  }

  async remove(place: ComponentPlace): Promise<void> {
    await rm(this.#pathOf(place), { force: true });
    await rm(join(this.path, NOTES, formatComponentFileName(place)), { force: true });
  }

  async #opened<Result>(
    place: ComponentPlace,
    work: (file: FileHandle, note: Note | undefined) => Promise<Result>,
  ): Promise<Result | undefined> {
    const note = await this.#noteOf(place);
    const file = await openFile(this.#pathOf(place), 'read');
    if (!file) return undefined;
    try {
      return await work(file, note);
    } finally {
      await file.close();
    }
  }

  async #append(write: ComponentWrite, version: number, file: FileHandle, note: Note): Promise<ComponentWriteOutcome> {
    const { place, keep, texts, digest } = write;
    if ((await file.stat()).nlink > 1) return this.#appendToCopy(write, version, file, note);
    if (hasBegunLine(note) && !(await this.#blankOut(place, file, note))) return this.#conflict(place);
    const before = (await lacksLineBreak(file)) ? '\n' : '';
    const content = Buffer.from(before + appendedLines(texts));
    const { bytesWritten } = await file.write(content);
    if (bytesWritten < content.length)
      throw new ComponentFilesError('Only a part of a list was written, and does not count. Save again.');
    if (this.isSynced) await file.sync();
    const { size, changed } = await readFileState(file);
    const isStillThere = await isFileAt(this.#pathOf(place), file);
    if (isStillThere && size === note.size + content.length)
      return this.#written(place, { version, length: keep + texts.length, digest }, size, changed);
    // Another program has appended beside this, or put a new file in place, with this in it or not: one version more.
    const found = await this.mend(place, 2);
    const hasThis =
      isStillThere || digestAfter(EMPTY_DIGEST, found?.texts.slice(0, keep + texts.length) ?? []) === digest;
    return hasThis ? { kind: 'written', version } : { kind: 'conflict', version: found?.version ?? 0 };
  }

  /** The file of the other name stays as it is. */
  async #appendToCopy(
    write: ComponentWrite,
    version: number,
    file: FileHandle,
    note: Note,
  ): Promise<ComponentWriteOutcome> {
    const path = this.#pathOf(write.place);
    const changed = await replaceFile(path, await readWholeFile(file), this.isSynced);
    await this.#save(write.place, { ...note, changed });
    const copy = await openFile(path, 'append');
    try {
      const isOwn = copy !== undefined && (await readFileState(copy)).changed === changed;
      return isOwn ? await this.#append(write, version, copy, { ...note, changed }) : await this.#conflict(write.place);
    } finally {
      await copy?.close();
    }
  }

  /** Blanks out the begin of a line that nobody completes; `false` if somebody did. Cuts nothing off: others may append meanwhile. */
  async #blankOut(place: ComponentPlace, file: FileHandle, { bytes, size }: Note): Promise<boolean> {
    if (!(await isQuiet(file)) || (await readFileState(file)).size !== size) return false;
    const writable = await openFile(this.#pathOf(place), 'write');
    try {
      if (writable) await writable.write(blankLine(size - bytes), 0, size - bytes, bytes);
    } finally {
      await writable?.close();
    }
    return true;
  }

  async #replace(
    { place, texts, digest }: ComponentWrite,
    version: number,
    file: FileHandle | undefined,
    note: Note | undefined,
  ): Promise<ComponentWriteOutcome> {
    if (file && note && hasBegunLine(note) && !(await isQuiet(file))) return this.#conflict(place);
    const [path, content] = [this.#pathOf(place), fileContent(place, texts)];
    const isUnchanged = async (): Promise<boolean> =>
      !file || !note || ((await isAsNoted(file, note)) && isFileAt(path, file));
    const changed = await replaceUnchanged(path, content, this.isSynced, file && isUnchanged);
    if (changed === undefined) return this.#conflict(place);
    // What another program appended to the old file while it was replaced.
    const late = file && note && (await readFileState(file)).size > note.size ? await readWholeFile(file) : undefined;
    const bytes = Buffer.byteLength(content);
    if (!late || !note) return this.#written(place, { version, length: texts.length, digest }, bytes, changed);
    const replaced = await openFile(path, 'append');
    try {
      await replaced?.write(late.subarray(note.bytes));
    } finally {
      await replaced?.close();
    }
    await this.mend(place, 2);
    return { kind: 'written', version };
  }

  /** Without waiting for the disk: after a loss of power, what counts follows from the file. */
  async #written(
    place: ComponentPlace,
    head: ComponentHead,
    bytes: number,
    changed: string,
  ): Promise<ComponentWriteOutcome> {
    await this.#save(place, { ...head, bytes, size: bytes, changed });
    return { kind: 'written', version: head.version };
  }

  async #conflict(place: ComponentPlace): Promise<ComponentWriteOutcome> {
    return { kind: 'conflict', version: (await this.mend(place))?.version ?? 0 };
  }

  async #save(
    place: ComponentPlace,
    { version, length, digest, bytes, size, changed }: Omit<Note, 'name'>,
  ): Promise<void> {
    const text = JSON.stringify({ name: place.name, version, length, digest, bytes, size, changed });
    await replaceFile(join(this.path, NOTES, formatComponentFileName(place)), text, false);
  }

  async #noteOf(place: ComponentPlace): Promise<Note | undefined> {
    const note = await this.#note<Note>(formatComponentFileName(place));
    return note && COUNTS.every((name) => Number.isSafeInteger(note[name])) ? (note as Note) : undefined;
  }

  /** A note that was damaged is as good as none: the file has the content. */
  async #note<Noted>(file: string): Promise<Partial<Noted> | undefined> {
    const text = await readFileText(join(this.path, NOTES, file));
    if (text === undefined) return undefined;
    try {
      const note: unknown = JSON.parse(text);
      return isRecord(note) ? (note as Partial<Noted>) : undefined;
    } catch {
      return undefined;
    }
  }

  #pathOf(place: ComponentPlace): string {
    return join(this.path, formatComponentFileName(place));
  }
}

function formatComponentFileName({ name, kind }: ComponentPlace): string {
  return `${fileNameOf(name)}${ENDINGS[kind]}`;
}

/** Whether somebody has begun a line, or died over it. */
function hasBegunLine({ bytes, size }: Note): boolean {
  return bytes < size;
}

async function isAsNoted(file: FileHandle, { size, changed }: Note): Promise<boolean> {
  const current = await readFileState(file);
  return current.size === size && current.changed === changed;
}
