import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join('docs', 'decisions');
const MAX_WORDS = 200;

const decisions = readdirSync(FOLDER).filter((name) => /^\d{4}-/.test(name));
const textOf = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');

/** What a page says in words: without the lines, bars and dashes of tables and lists. */
function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => /\w/.test(word));
}

describe('The decisions', () => {
  it('are found', () => {
    expect(decisions).not.toEqual([]);
  });

  it.each(decisions)(`%s has context, decision and consequences in at most ${MAX_WORDS} words`, (name) => {
    const text = textOf(name);
    expect([...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)).toEqual([
      'Context',
      'Decision',
      'Consequences',
    ]);
    expect(wordsOf(text).length).toBeLessThanOrEqual(MAX_WORDS);
  });

  it('are listed in order, by number and title', () => {
    const rows = decisions.map((name) => {
      const [, number, title] = /^# (\d{4}) · (.+)$/m.exec(textOf(name)) ?? [];
      return `| [${number}](${name}) | ${title} |`;
    });
    const listed = textOf('README.md')
      .split('\n')
      .filter((line) => line.startsWith('| ['));
    expect(listed).toEqual(rows);
  });
});
