import ts from 'typescript';
import { checker, entryPoints, exportsOf, typesVersions } from './entry-points.js';

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
