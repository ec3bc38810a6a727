import ts from 'typescript';
import { entryPoints, typesVersions } from './entry-points.js';
import { checker, exportsOf } from './exported-symbols.js';
import { addSignatureOf, shownWords } from './shown-names.js';

/** A class and an interface of the same name are one class to users. */
function kindOf({ flags }: ts.Symbol): string {
  if (flags & ts.SymbolFlags.Class) return 'class';
  if (flags & ts.SymbolFlags.Function) return 'function';
  return flags & ts.SymbolFlags.Variable ? 'const' : 'type';
}

// After a change on purpose: npx jest test/architecture/public-exports.spec.ts -u
describe('The public exports', () => {
  it.each([...entryPoints])('of $subpath stay as they are', ({ entry }) => {
    const exported = [...exportsOf(entry)].map(([name, symbol]) => `${kindOf(symbol)} ${name}`);

    expect(exported.toSorted()).toMatchSnapshot();
  });

  it('have types for compilers that do not read exports', () => {
    const subpaths = entryPoints.filter(({ subpath }) => subpath !== '.').map(({ subpath }) => subpath.slice(2));

    expect([...typesVersions].toSorted()).toEqual(subpaths.toSorted());
  });
});

const hasWords = (found: ts.Symbol): boolean => found.getDocumentationComment(checker).length > 0;
const hasExample = (found: ts.Symbol): boolean => found.getJsDocTags().some(({ name }) => name === 'example');
const isCalled = ({ flags }: ts.Symbol): boolean => (flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Function)) > 0;
const isValue = ({ flags }: ts.Symbol): boolean => (flags & ts.SymbolFlags.Value) !== 0;
const namesOf = (symbols: readonly ts.Symbol[]): string[] => symbols.map(({ name }) => name);

describe.each([...entryPoints])('What $entry exports', ({ entry }) => {
  const found = [...exportsOf(entry).values()];

  it('says what it is', () => {
    expect(found).not.toEqual([]);
    expect(namesOf(found.filter((each) => !hasWords(each)))).toEqual([]);
  });

  it('shows how classes and functions are used', () => {
    expect(namesOf(found.filter((each) => isCalled(each) && !hasExample(each)))).toEqual([]);
  });
});

describe('Names that the package exports', () => {
  const words = shownWords();
  const exported = entryPoints.flatMap(({ subpath, entry }) =>
    [...exportsOf(entry)].map(([name, symbol]) => ({ subpath, name, symbol })),
  );

  const namesByEntry = (found: typeof exported): Record<string, string[]> => {
    const names: Record<string, string[]> = {};
    for (const { subpath, name } of found) (names[subpath] ??= []).push(name);
    for (const each of Object.values(names)) each.sort();
    return names;
  };

  it('are shown by the docs or an example, where they are values', () => {
    const hidden = exported.filter(({ name, symbol }) => isValue(symbol) && !words.has(name));

    expect(namesByEntry(hidden)).toEqual({});
  });

  it('are shown or belong to the signature of such a name, where they are types', () => {
    const reached = new Set<ts.Symbol>();
    for (const { name, symbol } of exported) if (words.has(name) || isValue(symbol)) addSignatureOf(symbol, reached);
    const hidden = exported.filter(({ symbol }) => !isValue(symbol) && !reached.has(symbol));

    expect(namesByEntry(hidden)).toEqual({});
  });
});
