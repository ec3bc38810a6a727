import { readFileSync, readdirSync } from 'node:fs';
import { posix, resolve, sep } from 'node:path';
import ts from 'typescript';

export interface Import {
  readonly specifier: string;
  readonly line: number;
}

export interface SourceFile {
  /** Relative to the folder that was read, with forward slashes. */
  readonly path: string;
  readonly lines: number;
  /** Static and dynamic imports, type-only imports, re-exports and `require` calls. */
  readonly imports: readonly Import[];
}

export function readSourceFiles(folder: string): SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'))
    .map((path) => parseSourceFile(path.replaceAll(sep, '/'), readFileSync(resolve(folder, path), 'utf8')))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

export function parseSourceFile(path: string, text: string): SourceFile {
  const { importedFiles } = ts.preProcessFile(text, true, true);
  return {
    path,
    lines: text.trimEnd().split('\n').length,
    imports: importedFiles.map(({ fileName, pos }) => ({
      specifier: fileName,
      line: text.slice(0, pos).split('\n').length,
    })),
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
