import { StatePrefix } from './scopes.js';

/** A placeholder in a template: `{user:name}`, `{note?}`, `{artifact.report.txt}`. */
export interface Placeholder {
  /** `state` with a state key, or `artifact` with the name of one. */
  readonly kind: 'state' | 'artifact';
  readonly name: string;
  readonly isOptional: boolean;
}

const ARTIFACT_PREFIX = 'artifact.';
const SCOPES: readonly string[] = [StatePrefix.APP_PREFIX, StatePrefix.USER_PREFIX, StatePrefix.TEMP_PREFIX];
const IDENTIFIER = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** The template as text and placeholders, in its order. Text in braces that is no valid name stays text. */
export function parseTemplate(template: string): (string | Placeholder)[] {
  const pieces: (string | Placeholder)[] = [];
  let textFrom = 0;
  for (const { from, to } of bracedRanges(template)) {
    const placeholder = placeholderIn(template.slice(from, to));
    if (!placeholder) continue;
    pieces.push(template.slice(textFrom, from), placeholder);
    textFrom = to;
  }
  pieces.push(template.slice(textFrom));
  return pieces;
}

/**
 * What `/\{+[^{}]*}+/g` matches: opening braces, text without braces, closing braces. By hand, because the expression
 * takes quadratic time for braces that nothing closes.
 */
function* bracedRanges(template: string): Generator<{ readonly from: number; readonly to: number }> {
  let from = template.indexOf('{');
  while (from !== -1) {
    const inside = endOfRun(template, from, '{');
    const end = nextBrace(template, inside);
    if (template[end] === '}') {
      const to = endOfRun(template, end, '}');
      yield { from, to };
      from = template.indexOf('{', to);
    } else {
      from = end < template.length ? end : -1;
    }
  }
}

function endOfRun(text: string, start: number, brace: string): number {
  let end = start;
  while (text[end] === brace) end++;
  return end;
}

function nextBrace(text: string, start: number): number {
  let end = start;
  while (end < text.length && text[end] !== '{' && text[end] !== '}') end++;
  return end;
}

function placeholderIn(braced: string): Placeholder | undefined {
  const inner = braced.slice(endOfRun(braced, 0, '{'), braced.indexOf('}')).trim();
  const isOptional = inner.endsWith('?');
  const name = isOptional ? inner.slice(0, -1) : inner;
  if (name.startsWith(ARTIFACT_PREFIX)) {
    return { kind: 'artifact', name: name.slice(ARTIFACT_PREFIX.length), isOptional };
  }
  return isStateName(name) ? { kind: 'state', name, isOptional } : undefined;
}

function isStateName(name: string): boolean {
  const prefix = SCOPES.find((scope) => name.startsWith(scope)) ?? '';
  return IDENTIFIER.test(name.slice(prefix.length));
}
