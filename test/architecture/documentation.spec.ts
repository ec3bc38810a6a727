import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

const { exports } = JSON.parse(readFileSync(resolve('package.json'), 'utf8')) as Manifest;
const entries = Object.values(exports).flatMap((target) =>
  typeof target === 'string' ? [] : [target.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts')],
);
const options: ts.CompilerOptions = { module: ts.ModuleKind.NodeNext, noLib: true, types: [] };
const program = ts.createProgram([...entries], options);
const checker = program.getTypeChecker();

/** What an entry point exports, each where it is declared. */
function exportsOf(entry: string): ts.Symbol[] {
  const file = program.getSourceFile(entry);
  const module = file && checker.getSymbolAtLocation(file);
  if (!module) throw new Error(`${entry} exports nothing`);
  return checker
    .getExportsOfModule(module)
    .map((found) => (found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found));
}

const hasWords = (found: ts.Symbol): boolean => found.getDocumentationComment(checker).length > 0;
const hasExample = (found: ts.Symbol): boolean => found.getJsDocTags().some(({ name }) => name === 'example');
const isCalled = ({ flags }: ts.Symbol): boolean => (flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Function)) > 0;
const namesOf = (symbols: readonly ts.Symbol[]): string[] => symbols.map(({ name }) => name);

describe.each(entries.map((entry) => ({ entry })))('What $entry exports', ({ entry }) => {
  const found = exportsOf(entry);

  it('says what it is', () => {
    expect(found).not.toEqual([]);
    expect(namesOf(found.filter((each) => !hasWords(each)))).toEqual([]);
  });

  it('shows how classes and functions are used', () => {
    expect(namesOf(found.filter((each) => isCalled(each) && !hasExample(each)))).toEqual([]);
  });
});
