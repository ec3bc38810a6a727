import ts from 'typescript';

/** Loops and limits that count attempts. */
const COUNTED =
  /\b(?:for|while) \((?!const).*\b(?:tries|attempts?|retries|repeats)\b|^(?:export )?const (?:\w+_)?(?:TRIES|ATTEMPTS|RETRIES|REPEATS)\b/;
/** Pauses of a random length, in files that wait. */
const RANDOM = /\bMath\.random\(\)/;
const WAITS = /\bsetTimeout\b/;

/**
 * The lines of a text where something is tried again: a loop that goes on after an error, a count of attempts, and a random pause.
 */
export function retryLinesIn(text: string): number[] {
  const waits = WAITS.test(text);
  const lines = text.split('\n').flatMap((line, index) => {
    return COUNTED.test(line) || (waits && RANDOM.test(line)) ? [index + 1] : [];
  });
  return [...new Set([...lines, ...loopsPastErrors(text)])].toSorted((a, b) => a - b);
}

function loopsPastErrors(text: string): number[] {
  // Most files need not be parsed.
  if (!/\bcatch\b/.test(text) || !/\b(?:for|while|do)\b/.test(text)) return [];
  const file = ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true);
  const found: number[] = [];
  const visit = (node: ts.Node): void => {
    if (isLoop(node) && goesOnAfterError(node.statement)) {
      found.push(file.getLineAndCharacterOfPosition(node.getStart()).line + 1);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** A loop over a list does something else each time. */
function isLoop(node: ts.Node): node is ts.ForStatement | ts.WhileStatement | ts.DoStatement {
  return ts.isForStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node);
}

/** Whether it catches an error and does not always leave the loop then. */
function goesOnAfterError(node: ts.Node): boolean {
  if (ts.isFunctionLike(node) || isLoop(node)) return false;
  if (ts.isCatchClause(node) && !leavesLoop(node.block.statements.at(-1))) return true;
  return ts.forEachChild(node, (child) => goesOnAfterError(child) || undefined) ?? false;
}

function leavesLoop(last: ts.Statement | undefined): boolean {
  return last !== undefined && (ts.isThrowStatement(last) || ts.isReturnStatement(last) || ts.isBreakStatement(last));
}
