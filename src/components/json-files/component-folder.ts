import type { FileHandle } from 'node:fs/promises';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ComponentFilesError } from '../component-errors.js';
import {
  type ComponentHead,
  type ComponentPlace,
  type ComponentWrite,
  type StoredComponent,
  EMPTY_DIGEST,
  digestAfter,
} from '../../sessions/domain/component.js';
import { fileNameOf, idOfFileName } from './file-names.js';
import { hasFolder, makeFolder, openFile, readFileText, replaceFile } from './safe-files.js';

/** What is noted beside a file. Content beyond `bytes` was written by a process that died before it could note it. */
interface Note extends ComponentHead {
  readonly name: string;
  readonly bytes: number;
  /** The file's time of change in nanoseconds, as text. With `bytes`, it tells that nobody else wrote to the file. */
  readonly changed: string;
}

/** What is noted of a session. */
export interface SessionNote {
  readonly id: string;
  readonly expiresAt: number;
}

const NOTES = '.notes';
const SESSION_NOTE = '.session';
const LINE_BREAK = 0x0a;
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
    return (await this.#note(SESSION_NOTE)) as SessionNote | undefined;
  }

  async noteSession(note: SessionNote): Promise<void> {
    await replaceFile(join(this.path, NOTES, SESSION_NOTE), JSON.stringify(note), this.isSynced);
  }

  /** What is stored, if it is as noted. Needs no lock. */
  async find(place: ComponentPlace): Promise<StoredComponent | undefined | 'changed'> {
    return this.#opened(place, async (file, note) => {
      if (!note || !(await isAsNoted(file, note))) return 'changed';
      const texts = textsIn(place, (await contentOf(file)).subarray(0, note.bytes));
      // It was replaced while it was read.
      return texts.length === note.length ? { ...note, texts } : 'changed';
    });
  }

  /** The same without the content. */
  async findHead(place: ComponentPlace): Promise<ComponentHead | undefined | 'changed'> {
    return this.#opened(place, async (file, note) => (note && (await isAsNoted(file, note)) ? note : 'changed'));
  }

  /** What is stored, after a crash or a change by others was noticed and noted. Needs the lock. */
  async mend(place: ComponentPlace): Promise<StoredComponent | undefined> {
    const file = await this.#openOwn(place);
    if (!file) return undefined;
    try {
      const note = (await this.#note(fileOf(place))) as Note | undefined;
      const content = await contentOf(file);
      const { texts, bytes: whole, isNoted } = wholeContent(place, content, note);
      if (whole < content.length) await file.truncate(whole);
      // Other programs may leave out the last line break, and an append begins a line.
      const isOpen = place.kind === 'list' && whole > 0 && content[whole - 1] !== LINE_BREAK;
      if (isOpen) await file.write('\n', whole);
      const bytes = isOpen ? whole + 1 : whole;
      const version = (note?.version ?? 0) + (isNoted ? 0 : 1);
      const head = { version, length: texts.length, digest: digestAfter(EMPTY_DIGEST, texts) };
      await makeFolder(join(this.path, NOTES));
      await this.#save(place, { ...head, bytes, changed: await changeOf(file) }, false);
      return { ...head, texts };
    } finally {
      await file.close();
    }
  }

  /** Needs the lock. */
  async write({ place, keep, texts, digest }: ComponentWrite, version: number): Promise<void> {
    const text = place.kind === 'list' ? texts.map((line) => `${line}\n`).join('') : `${texts[0] ?? ''}\n`;
    const head = { version, length: keep + texts.length, digest };
    const isAppended = keep > 0;
    const written = isAppended ? await this.#append(place, text) : await this.#replace(place, text);
    // Without its note, what was appended would not count, but what replaced a file would.
    await this.#save(place, { ...head, ...written }, this.isSynced && isAppended);
  }

  async places(session: string): Promise<ComponentPlace[]> {
    const places: ComponentPlace[] = [];
    for (const entry of await readdir(this.path, { withFileTypes: true })) {
      const kind = entry.name.endsWith(ENDINGS.list) ? 'list' : 'value';
      if (!entry.isFile() || entry.name.startsWith('.') || !entry.name.endsWith(ENDINGS[kind])) continue;
      const plain = idOfFileName(entry.name.slice(0, -ENDINGS[kind].length));
      const name = plain ?? ((await this.#note(entry.name)) as Note | undefined)?.name;
      if (name !== undefined) places.push({ session, name, kind });
    }
    return places;
  }

  async remove(place: ComponentPlace): Promise<void> {
    await rm(this.#pathOf(place), { force: true });
    await rm(join(this.path, NOTES, fileOf(place)), { force: true });
  }

  async #opened<Result>(
    place: ComponentPlace,
    work: (file: FileHandle, note: Note | undefined) => Promise<Result>,
  ): Promise<Result | undefined> {
    const note = (await this.#note(fileOf(place))) as Note | undefined;
    const file = await openFile(this.#pathOf(place), 'read');
    if (!file) return undefined;
    try {
      return await work(file, note);
    } finally {
      await file.close();
    }
  }

  /** Opens a file for writing. A hard link is replaced by a copy, so that the file of the other name stays as it is. */
  async #openOwn(place: ComponentPlace): Promise<FileHandle | undefined> {
    const path = this.#pathOf(place);
    const file = await openFile(path, 'write');
    if (!file || (await file.stat()).nlink <= 1) return file;
    try {
      await replaceFile(path, await contentOf(file), this.isSynced);
    } finally {
      await file.close();
    }
    return openFile(path, 'write');
  }

  async #append(place: ComponentPlace, text: string): Promise<Pick<Note, 'bytes' | 'changed'>> {
    const file = await this.#openOwn(place);
    if (!file) throw new ComponentFilesError('A file of the session was removed during a write. Save again.');
    try {
      const { size } = await file.stat();
      const { bytesWritten } = await file.write(text, size);
      const bytes = Buffer.byteLength(text);
      if (bytesWritten < bytes)
        throw new ComponentFilesError('Only a part of a list was written, and does not count. Save again.');
      if (this.isSynced) await file.sync();
      return { bytes: size + bytes, changed: await changeOf(file) };
    } finally {
      await file.close();
    }
  }

  async #replace(place: ComponentPlace, text: string): Promise<Pick<Note, 'bytes' | 'changed'>> {
    const changed = await replaceFile(this.#pathOf(place), text, this.isSynced);
    return { bytes: Buffer.byteLength(text), changed: String(changed) };
  }

  async #save(place: ComponentPlace, note: Omit<Note, 'name'>, isSynced: boolean): Promise<void> {
    const { version, length, digest, bytes, changed } = note;
    const text = JSON.stringify({ name: place.name, version, length, digest, bytes, changed });
    await replaceFile(join(this.path, NOTES, fileOf(place)), text, isSynced);
  }

  /** A note that was damaged is as good as none: the file has the content. */
  async #note(file: string): Promise<unknown> {
    const text = await readFileText(join(this.path, NOTES, file));
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }

  #pathOf(place: ComponentPlace): string {
    return join(this.path, fileOf(place));
  }
}

function fileOf({ name, kind }: ComponentPlace): string {
  return `${fileNameOf(name)}${ENDINGS[kind]}`;
}

async function isAsNoted(file: FileHandle, { bytes, changed }: Note): Promise<boolean> {
  const { size, mtimeNs } = await file.stat({ bigint: true });
  return Number(size) === bytes && String(mtimeNs) === changed;
}

async function changeOf(file: FileHandle): Promise<string> {
  return String((await file.stat({ bigint: true })).mtimeNs);
}

/** From the start, wherever the file was read before. */
async function contentOf(file: FileHandle): Promise<Buffer> {
  const { size } = await file.stat();
  const content = Buffer.alloc(size);
  const { bytesRead } = await file.read(content, 0, size, 0);
  return content.subarray(0, bytesRead);
}

interface Whole {
  readonly texts: string[];
  /** How much of the content that is. */
  readonly bytes: number;
  /** Whether it is what the note says. */
  readonly isNoted: boolean;
}

/** What counts of a file: what is noted, or else all that is whole. */
function wholeContent(place: ComponentPlace, content: Buffer, note: Note | undefined): Whole {
  if (note && content.length >= note.bytes) {
    // Not checked yet: another program may have written lines that end elsewhere.
    const texts = splitContent(place, content.subarray(0, note.bytes));
    if (digestAfter(EMPTY_DIGEST, texts) === note.digest) return { texts, bytes: note.bytes, isNoted: true };
  }
  if (place.kind === 'value') return { texts: textsIn(place, content), bytes: content.length, isNoted: false };
  const end = content.lastIndexOf('\n') + 1;
  const last = content.subarray(end).toString();
  const isTorn = end < content.length && !isJson(last);
  const bytes = isTorn ? end : content.length;
  return { texts: textsIn(place, content.subarray(0, bytes)), bytes, isNoted: false };
}

/** Blank lines of a list count for nothing. */
function splitContent({ kind }: ComponentPlace, content: Buffer): string[] {
  const text = content.toString();
  return kind === 'list' ? text.split('\n').filter((line) => line.trim() !== '') : [text.trim()];
}

/** The JSON texts of a file. */
function textsIn(place: ComponentPlace, content: Buffer): string[] {
  const texts = splitContent(place, content);
  const damaged = texts.findIndex((each) => !isJson(each));
  if (damaged === -1) return texts;
  const { kind, name } = place;
  const where = kind === 'list' ? `line ${damaged + 1} of ${name}` : name;
  throw new ComponentFilesError(`The file of component state is damaged: ${where} is no JSON. Mend or delete it.`);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
