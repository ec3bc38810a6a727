import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { checker, entryPoints, exportsOf } from '../architecture/entry-points.js';

const words = new Set(
  ['README.md', ...['docs', 'examples'].flatMap((folder) => pagesIn(folder))].flatMap(
    (path) => readFileSync(resolve(path), 'utf8').match(/[\p{L}_$][\w$]*/gu) ?? [],
  ),
);

/** Decisions are for who works on the package. */
function pagesIn(folder: string): string[] {
  return readdirSync(resolve(folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(md|ts|mjs)$/.test(path) && !/^(decisions|dist)\b/.test(path))
    .map((path) => join(folder, path));
}

const exported = entryPoints.flatMap(({ subpath, entry }) =>
  [...exportsOf(entry)].map(([name, symbol]) => ({ subpath, name, symbol })),
);
const isValue = ({ flags }: ts.Symbol): boolean => (flags & ts.SymbolFlags.Value) !== 0;

function namesByEntry(found: typeof exported): Record<string, string[]> {
  const names: Record<string, string[]> = {};
  for (const { subpath, name } of found) (names[subpath] ??= []).push(name);
  for (const each of Object.values(names)) each.sort();
  return names;
}

/** The types in the signature of a symbol, and in theirs. */
function signatureOf(symbol: ts.Symbol, found: Set<ts.Symbol>): void {
  if (found.has(symbol)) return;
  found.add(symbol);
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node) || ts.isPrivateIdentifier(node)) return;
    if (ts.isIdentifier(node)) {
      const named = checker.getSymbolAtLocation(node);
      const used = named && named.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(named) : named;
      if (used && used.flags & (ts.SymbolFlags.Type | ts.SymbolFlags.Function)) signatureOf(used, found);
    }
    ts.forEachChild(node, visit);
  };
  for (const declaration of symbol.declarations ?? []) visit(declaration);
}

describe('Names that the package exports', () => {
  it('are shown by the docs or an example, where they are values', () => {
    const hidden = exported.filter(({ name, symbol }) => isValue(symbol) && !words.has(name));

    expect(namesByEntry(hidden)).toEqual({});
  });

  it('are shown or belong to the signature of such a name, where they are types', () => {
    const reached = new Set<ts.Symbol>();
    for (const { name, symbol } of exported) if (words.has(name) || isValue(symbol)) signatureOf(symbol, reached);
    const hidden = exported.filter(({ symbol }) => !isValue(symbol) && !reached.has(symbol));

    expect(namesByEntry(hidden)).toEqual({});
  });
});
