import type { SourceLine } from './candidates.js';

/** Says what this is to whoever reads it, people and models. */
const HEADER = 'Extract: sentences copied from the conversation, not a summary written by a model.';
const SHORT_HEADER = 'Extract:';
/** The author of what somebody else summarized before. */
const FOREIGN_AUTHOR = 'summary';

/** The longest first line that leaves three quarters to the sentences. */
export function headerFor(maxLength: number): string | undefined {
  return [HEADER, SHORT_HEADER].find((header) => header.length * 4 <= maxLength);
}

export function lineOf({ author, text }: { author: string; text: string }): string {
  return `${author}: ${text}`;
}

/** Reads a summary as lines again: an extract with its authors, the words of a model as they are. */
export function linesOfSummary(summary: string | undefined): SourceLine[] {
  if (summary === undefined) return [];
  const [first = '', ...rest] = summary.split('\n');
  if (first !== HEADER && first !== SHORT_HEADER) return [{ author: FOREIGN_AUTHOR, text: summary, isEarlier: true }];
  return rest.map((line) => {
    const end = line.indexOf(': ');
    const author = end < 0 ? FOREIGN_AUTHOR : line.slice(0, end);
    return { author, text: end < 0 ? line : line.slice(end + 2), isEarlier: true };
  });
}
