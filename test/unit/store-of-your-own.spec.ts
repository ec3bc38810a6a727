import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';
import * as root from '../../src/index.js';
import * as storage from '../../src/storage.js';

const folder = resolve('src/sessions/storage/in-memory');

/** What a file imports from the rules, without what is there for types only. */
function rulesUsedIn(file: string): string[] {
  const { statements } = ts.createSourceFile(file, readFileSync(resolve(folder, file), 'utf8'), ts.ScriptTarget.Latest);
  return statements.filter(ts.isImportDeclaration).flatMap(({ importClause, moduleSpecifier }) => {
    const bindings = importClause?.namedBindings;
    const isOfRules = ts.isStringLiteral(moduleSpecifier) && moduleSpecifier.text.includes('/domain/');
    if (!isOfRules || !bindings || !ts.isNamedImports(bindings) || importClause.isTypeOnly) return [];
    return bindings.elements.filter(({ isTypeOnly }) => !isTypeOnly).map(({ name }) => name.text);
  });
}

describe('A store outside of this repository', () => {
  it('can use every rule that the store in memory uses', () => {
    const rules = readdirSync(folder).flatMap(rulesUsedIn);

    expect(rules).toContain('refusalOf');
    expect(rules.filter((rule) => !(rule in root || rule in storage))).toEqual([]);
  });
});
