import { readFile, readdir } from 'node:fs/promises';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { fileOfPackage } from '../config/own-package.js';
import { ConfigurationError } from '../config/configuration-error.js';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

const packed = promisify(gzip);

/** A file of the page, as one client understands it. */
export interface PageFile {
  readonly bytes: Buffer;
  readonly type: string;
  readonly encoding?: string;
}

/** The built scripts and the style of the page, in memory: less than 600 KB. Each is packed when it is first asked for, and once. */
@Injectable()
export class PageFiles implements OnModuleInit {
  readonly #files = new Map<string, Buffer>();
  readonly #packed = new Map<string, Promise<Buffer>>();
  #names: Readonly<Record<string, string>> = {};

  /** Fails at startup if the page was not built. */
  async onModuleInit(): Promise<void> {
    try {
      const folder = fileOfPackage('dist/inspector/page/');
      this.#names = JSON.parse(await readFile(`${folder}names.json`, 'utf8')) as Record<string, string>;
      const names = (await readdir(folder)).filter((name) => Object.hasOwn(TYPES, extname(name)));
      for (const name of names) this.#files.set(name, await readFile(folder + name));
    } catch (cause) {
      throw new ConfigurationError(['The page of the inspector is not built: run `npm run build`.'], { cause });
    }
  }

  /** The name of a file with its digest: it changes with the content. */
  nameOf(file: 'main.js' | 'styles.css'): string {
    return this.#names[file] ?? file;
  }

  async find(name: string, accepted: string): Promise<PageFile | undefined> {
    const plain = this.#files.get(name);
    const type = TYPES[extname(name)];
    if (!plain || type === undefined) return undefined;
    if (!takesGzip(accepted)) return { bytes: plain, type };
    const packing = this.#packed.get(name) ?? packed(plain, { level: 9 });
    this.#packed.set(name, packing);
    return { bytes: await packing, type, encoding: 'gzip' };
  }
}

function takesGzip(accepted: string): boolean {
  return accepted.split(',').some((each) => /^\s*gzip\s*(;(?!\s*q=0(\.0*)?\s*$).*)?$/i.test(each));
}
