import ts from 'typescript';
import { entryPoints } from './entry-points.js';

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
/** Of `src`, compiled once for the questions about exported names. */
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
