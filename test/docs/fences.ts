import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A block of code in a page of the docs. */
export interface Fence {
  readonly page: string;
  /** Where its code begins. */
  readonly line: number;
  readonly code: string;
  /** Whether a test runs it: what follows the language is `run`. */
  readonly runs: boolean;
}

/** README, and all pages of the docs. */
export function pages(): string[] {
  const docs = readdirSync('docs', { recursive: true, encoding: 'utf8' });
  return ['README.md', ...docs.filter((path) => path.endsWith('.md')).map((path) => join('docs', path))];
}

/** The blocks of a language in a page, in their order. */
export function fencesIn(page: string, language: string): Fence[] {
  const fences: Fence[] = [];
  let open:
    { readonly line: number; readonly language: string; readonly runs: boolean; readonly code: string[] } | undefined;
  for (const [index, text] of readFileSync(page, 'utf8').split('\n').entries()) {
    const mark = /^```(?<language>\w*)(?<runs> run$)?/.exec(text);
    if (!mark) open?.code.push(text);
    else if (!open)
      open = { line: index + 2, language: mark.groups?.language ?? '', runs: !!mark.groups?.runs, code: [] };
    else {
      if (open.language === language) fences.push({ ...open, page, code: open.code.join('\n') });
      open = undefined;
    }
  }
  if (open) throw new Error(`${page} ends in the middle of a block`);
  return fences;
}
