import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join } from 'node:path';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ConfigurationError } from '../../../config/configuration-error.js';
import { requireOfPackage } from '../../../config/own-package.js';
import { OWN_FILES } from './explorer-page.js';

/** GraphiQL 3 is the last version with a script that runs without a bundler. It depends on React 18. */
const GRAPHIQL_FILES = ['graphiql.min.css', 'graphiql.min.js'];
const REACT_FILES = { react: 'umd/react.production.min.js', 'react-dom': 'umd/react-dom.production.min.js' };

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

/** A file of the page: text of this package, or a file of another package. */
export type ExplorerFile = { readonly type: string } & (
  { readonly text: string } | { readonly path: string; readonly length: number }
);

/** The files that the page loads. */
@Injectable()
export class ExplorerFiles implements OnModuleInit {
  readonly #files = new Map<string, ExplorerFile>();

  /** Fails at startup if a package is missing. */
  async onModuleInit(): Promise<void> {
    for (const [name, text] of Object.entries(OWN_FILES)) this.#files.set(name, { type: findContentType(name), text });
    try {
      for (const path of pathsOfPackages()) {
        const name = basename(path);
        this.#files.set(name, { type: findContentType(name), path, length: (await stat(path)).size });
      }
    } catch (cause) {
      const problem = 'The GraphQL explorer needs GraphiQL 3 and React 18: run `npm install graphiql@3`.';
      throw new ConfigurationError([problem], { cause });
    }
  }

  find(name: string): ExplorerFile | undefined {
    return this.#files.get(name);
  }
}

function pathsOfPackages(): string[] {
  const graphiql = requireOfPackage().resolve('graphiql/package.json');
  const { resolve } = createRequire(graphiql);
  return [
    ...GRAPHIQL_FILES.map((file) => join(dirname(graphiql), file)),
    ...Object.entries(REACT_FILES).map(([name, file]) => join(dirname(resolve(`${name}/package.json`)), file)),
  ];
}

function findContentType(name: string): string {
  return TYPES[extname(name)] ?? 'application/octet-stream';
}
