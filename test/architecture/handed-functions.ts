import ts from 'typescript';

/**
 * The parameters and fields in a file whose type is a function, by name. Private fields, and types with names of their own,
 * such as `RunHandler`, are left out.
 */
export function handedFunctionsIn(text: string): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    const canHold = ts.isParameter(node) || ts.isPropertySignature(node) || ts.isPropertyDeclaration(node);
    const isHeld = canHold && node.type && isFunction(node.type) && !ts.isPrivateIdentifier(node.name);
    if (isHeld) names.push(node.name.getText());
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true));
  return names;
}

function isFunction(type: ts.TypeNode): boolean {
  if (ts.isUnionTypeNode(type)) return type.types.some(isFunction);
  return ts.isParenthesizedTypeNode(type) ? isFunction(type.type) : ts.isFunctionTypeNode(type);
}
