import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { checker } from './exported-symbols.js';

/** The words of README, docs and examples. */
export function shownWords(): ReadonlySet<string> {
  const paths = ['README.md', ...['docs', 'examples'].flatMap((folder) => pagesIn(folder))];
  return new Set(paths.flatMap((path) => readFileSync(resolve(path), 'utf8').match(/[\p{L}_$][\w$]*/gu) ?? []));
}

/** Decisions are for who works on the package. */
function pagesIn(folder: string): string[] {
  return readdirSync(resolve(folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(md|ts|mjs)$/.test(path) && !/^(decisions|dist)\b/.test(path))
    .map((path) => join(folder, path));
}

/** Adds a symbol, the types in its signature, and in theirs. */
export function addSignatureOf(symbol: ts.Symbol, found: Set<ts.Symbol>): void {
  if (found.has(symbol)) return;
  found.add(symbol);
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node) || ts.isPrivateIdentifier(node)) return;
    if (ts.isIdentifier(node)) {
      const named = checker.getSymbolAtLocation(node);
      const used = named && named.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(named) : named;
      if (used && used.flags & (ts.SymbolFlags.Type | ts.SymbolFlags.Function)) addSignatureOf(used, found);
    }
    ts.forEachChild(node, visit);
  };
  for (const declaration of symbol.declarations ?? []) visit(declaration);
}
