import ts from 'typescript';
import { checker, entryPoints, exportsOf } from './entry-points.js';

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
