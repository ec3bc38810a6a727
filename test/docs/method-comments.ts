import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { groupBy } from '../../src/sessions/domain/stored/batches.js';

/** The public methods of the class in a file, with what their comments say before the first example. */
export function methodComments(file: string): (readonly [name: string, text: string])[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const methods = source.statements
    .filter(ts.isClassDeclaration)
    .flatMap(({ members }) => members.filter(isPublicMethod));
  const texts = methods.map((method) => [method.name.getText(), commentOf(method)] as const);
  return [...groupBy(texts, ([name]) => name)].map(([name, overloads]) => {
    const text = overloads.find(([, comment]) => comment !== undefined)?.[1];
    if (text === undefined) throw new Error(`${name} has no comment`);
    return [name, inOneLine(text)];
  });
}

function commentOf(method: ts.MethodDeclaration): string | undefined {
  return ts.getTextOfJSDocComment(ts.getJSDocCommentsAndTags(method).find(ts.isJSDoc)?.comment);
}

function isPublicMethod(member: ts.ClassElement): member is ts.MethodDeclaration {
  return ts.isMethodDeclaration(member) && !ts.isPrivateIdentifier(member.name);
}

function inOneLine(text: string): string {
  return text.replaceAll(/\{@link (\w+)\}/g, '`$1`').replaceAll(/\s+/g, ' ');
}
