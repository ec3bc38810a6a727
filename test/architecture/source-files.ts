import { readFileSync, readdirSync } from 'node:fs';
import { posix, resolve, sep } from 'node:path';
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

export function readSourceFiles(folder: string): SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'))
    .map((path) => parseSourceFile(path.replaceAll(sep, '/'), readFileSync(resolve(folder, path), 'utf8')))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** The same as they run: without what is there for types only. */
export function readRunningFiles(folder: string): SourceFile[] {
  return readSourceFiles(folder).map(({ path }) => {
    const text = readFileSync(resolve(folder, path), 'utf8');
    return parseSourceFile(
      path,
      ts.transpileModule(text, { compilerOptions: { module: ts.ModuleKind.ESNext } }).outputText,
    );
  });
}

export function parseSourceFile(path: string, text: string): SourceFile {
  const { importedFiles } = ts.preProcessFile(text, true, true);
  return {
    path,
    lines: text.trimEnd().split('\n').length,
    imports: importedFiles.map(({ fileName, pos }) => ({
      specifier: fileName,
      line: text.slice(0, pos).split('\n').length,
      isDynamic: /(\bawait|=>)\s+import\($/.test(text.slice(0, pos).trimEnd()),
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
