import { readFileSync, readdirSync } from 'node:fs';
import { posix, resolve, sep } from 'node:path';
import { transformSync } from '@swc/core';
import ts from 'typescript';
import { retryLinesIn } from './retry-lines.js';

export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** Loaded only when the code gets there; types that are imported by `import()` are not. */
  readonly isDynamic: boolean;
}

export interface SourceFile {
  /** Relative to the folder that was read, with forward slashes. */
  readonly path: string;
  readonly lines: number;
  /** Static and dynamic imports, type-only imports, re-exports and `require` calls. */
  readonly imports: readonly Import[];
  /** Lines that try again on their own: see {@link retryLinesIn}. */
  readonly retryLines: readonly number[];
}

export const readSourceFiles = readOnce((text) => text);

/** The same as they run: without what is there for types only. */
export const readRunningFiles = readOnce((text) => {
  const parser = { syntax: 'typescript', decorators: true } as const;
  return transformSync(text, { swcrc: false, jsc: { parser, target: 'es2022' }, isModule: true }).code;
});

/** Reads the files of a folder for all specs that run together. */
function readOnce(prepare: (text: string) => string): (folder: string) => readonly SourceFile[] {
  const read = new Map<string, readonly SourceFile[]>();
  return (folder) => {
    const root = resolve(folder);
    const known = read.get(root);
    if (known) return known;
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'))
      .map((path) => parseSourceFile(path.replaceAll(sep, '/'), prepare(readFileSync(resolve(root, path), 'utf8'))))
      .toSorted((a, b) => (a.path < b.path ? -1 : 1));
    read.set(root, files);
    return files;
  };
}

export function parseSourceFile(path: string, text: string): SourceFile {
  const { importedFiles } = ts.preProcessFile(text, true, true);
  return {
    path,
    lines: text.trimEnd().split('\n').length,
    imports: importedFiles.map(({ fileName, pos }) => ({
      specifier: fileName,
      line: text.slice(0, pos).split('\n').length,
      isDynamic: /(\bawait|=>)\s*import\($/.test(text.slice(0, pos).trimEnd()),
    })),
    retryLines: retryLinesIn(text),
  };
}

/** The path of the file that a relative import means, or the name of the package otherwise. */
export function targetOf(importer: string, specifier: string): string {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(importer), specifier).replace(/\.js$/, '.ts');
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

export function isPackage(specifier: string): boolean {
  return !specifier.startsWith('.');
}
