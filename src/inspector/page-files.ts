import { readFile, readdir } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ConfigurationError } from '../config/configuration-error.js';

/** The same place from the sources and from the built package. */
const FOLDER = fileURLToPath(new URL('../../dist/inspector/page/', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

/** Encodings that files are kept in, best first, and the ends of their names. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** A file of the page, as one client understands it. */
export interface PageFile {
  readonly bytes: Buffer;
  readonly type: string;
  readonly encoding?: string;
}

/** The built script and style of the page, in memory: less than 200 KB. */
@Injectable()
export class PageFiles implements OnModuleInit {
  readonly #files = new Map<string, Buffer>();
  #names: Readonly<Record<string, string>> = {};

  /** Fails at startup if the page was not built. */
  async onModuleInit(): Promise<void> {
    try {
      for (const name of await readdir(FOLDER)) this.#files.set(name, await readFile(FOLDER + name));
      this.#names = JSON.parse(String(this.#files.get('names.json'))) as Record<string, string>;
    } catch (cause) {
      throw new ConfigurationError(['The page of the inspector is not built: run `npm run build`.'], { cause });
    }
  }

  /** The name of a file with its digest: it changes with the content. */
  nameOf(file: 'main.js' | 'styles.css'): string {
    return this.#names[file] ?? file;
  }

  find(name: string, accepted: string): PageFile | undefined {
    const type = TYPES[extname(name)];
    const plain = this.#files.get(name);
    if (type === undefined || !plain) return undefined;
    const offered = new Set(
      accepted
        .split(',')
        .flatMap((each) => /^\s*([\w*]+)(?!.*;\s*q=0(\.0*)?\s*$)/.exec(each)?.[1]?.toLowerCase() ?? []),
    );
    for (const [encoding, end] of ENCODINGS) {
      const bytes = offered.has(encoding) ? this.#files.get(name + end) : undefined;
      if (bytes) return { bytes, type, encoding };
    }
    return { bytes: plain, type };
  }
}
