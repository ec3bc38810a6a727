import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';

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

const options: ts.CompilerOptions = { module: ts.ModuleKind.NodeNext, noLib: true, types: [] };
const host = ts.createCompilerHost(options);
// Without the types of packages, which are most of the files.
host.resolveModuleNameLiterals = (names, importer) =>
  names.map(({ text }) =>
    text.startsWith('.') ? ts.resolveModuleName(text, importer, options, host) : { resolvedModule: undefined },
  );
const program = ts.createProgram(
  entryPoints.map(({ entry }) => entry),
  options,
  host,
);
export const checker = program.getTypeChecker();

/** The exports of an entry point, each where it is declared, by the name that users import. */
export function exportsOf(entry: string): ReadonlyMap<string, ts.Symbol> {
  const file = program.getSourceFile(entry);
  const module = file && checker.getSymbolAtLocation(file);
  if (!module) throw new Error(`${entry} exports nothing`);
  const found = checker.getExportsOfModule(module);
  const declared = (symbol: ts.Symbol): ts.Symbol =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  return new Map(found.map((symbol) => [symbol.name, declared(symbol)]));
}
