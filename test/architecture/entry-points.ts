import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  readonly typesVersions: { readonly '*': Readonly<Record<string, unknown>> };
}

const manifest = JSON.parse(readFileSync(resolve('package.json'), 'utf8')) as Manifest;

/** An entry point of the package: the subpath that users import, and its file in `src`. */
export interface EntryPoint {
  readonly subpath: string;
  readonly entry: string;
}

export const entryPoints: readonly EntryPoint[] = Object.entries(manifest.exports).flatMap(([subpath, target]) =>
  typeof target === 'string'
    ? []
    : [{ subpath, entry: target.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts') }],
);

/** The files of the entry points, and those that one of them hands on as a whole, relative to `src`. */
export const publicFiles: ReadonlySet<string> = new Set(
  entryPoints.flatMap(({ entry }) => {
    const parts = readFileSync(resolve(entry), 'utf8').matchAll(/^export \* from '\.\/(?<path>.+\/index)\.js';$/gm);
    return [entry.replace('src/', ''), ...Array.from(parts, ({ groups }) => `${groups?.['path']}.ts`)];
  }),
);

/** The subpaths for compilers that do not read `exports`. */
export const typesVersions: readonly string[] = Object.keys(manifest.typesVersions['*']);
