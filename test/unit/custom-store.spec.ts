import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';
import * as adapter from '../../src/adapter.js';
import * as root from '../../src/index.js';
import * as storage from '../../src/storage.js';

const folder = resolve('src/sessions/storage/in-memory');

/** The names that a file imports from the domain folder, without type imports. */
function rulesUsedIn(file: string): string[] {
  const { statements } = ts.createSourceFile(file, readFileSync(resolve(folder, file), 'utf8'), ts.ScriptTarget.Latest);
  return statements.filter(ts.isImportDeclaration).flatMap(({ importClause, moduleSpecifier }) => {
    const bindings = importClause?.namedBindings;
    const isOfRules = ts.isStringLiteral(moduleSpecifier) && moduleSpecifier.text.includes('/domain/');
    if (!isOfRules || !bindings || !ts.isNamedImports(bindings) || importClause.isTypeOnly) return [];
    return bindings.elements.filter(({ isTypeOnly }) => !isTypeOnly).map(({ name }) => name.text);
  });
}

describe('a store outside of this repository', () => {
  it('can import every domain rule that the in-memory store uses', () => {
    const open = { ...root, ...storage, ...adapter };
    const rules = readdirSync(folder).flatMap(rulesUsedIn);

    expect(rules).toContain('isExpired');
    expect(rules.filter((rule) => !(rule in open))).toEqual([]);
  });
});
