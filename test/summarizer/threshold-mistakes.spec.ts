import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as published from '../../src/summarizer/index.js';
import { MEASURES } from '../../src/summarizer/summary-outlook.js';
import { THRESHOLDS, type Threshold, allOf, anyOf, turnsOver } from '../../src/summarizer/thresholds.js';

const DOCS = readFileSync(join(__dirname, '../../docs/summaries.md'), 'utf8');
const COMBINED = { anyOf, allOf };

const refusal = (problem: string): object => ({ code: 'CONFIGURATION_INVALID', problems: [problem] });

describe.each(MEASURES)('the threshold %s', (kind) => {
  const threshold = THRESHOLDS[kind];
  const { name } = threshold;

  it.each<[unknown, string]>([
    [undefined, 'the limit is missing'],
    ['20', 'the limit is "20"'],
    [-5, 'the limit is -5'],
    [Number.NaN, 'the limit is NaN'],
    [Infinity, 'the limit is Infinity'],
    [null, 'the limit is null'],
  ])('refuses %p, which would be exceeded always or never', (limit, problem) => {
    const refused = refusal(`${name}(): ${problem}; it must be a number from 0 on.`);
    expect(() => threshold(limit as number)).toThrow(expect.objectContaining(refused));
  });

  it('takes 0, and parts of a whole', () => {
    expect([threshold(0).measure, threshold(0.5).measure]).toMatchObject([
      { kind, limit: 0 },
      { kind, limit: 0.5 },
    ]);
  });

  it('is public, and has a row in docs/summaries.md', () => {
    expect(published).toHaveProperty(name, threshold);
    expect(DOCS).toMatch(new RegExp(`^\\| \`${kind}\`.* \\| \`${name}\` \\|`, 'm'));
  });
});

describe.each(Object.entries(COMBINED))('%s', (name, combine) => {
  it.each<[unknown[], string]>([
    [[], 'no condition is given'],
    [[turnsOver(1), undefined], 'condition 2 is no function'],
    [[[turnsOver(1)]], 'condition 1 is no function'],
  ])('refuses %p', (conditions, problem) => {
    const refused = refusal(`${name}(): ${problem}; give at least one, such as turnsOver(50).`);
    expect(() => combine(...(conditions as Threshold[]))).toThrow(expect.objectContaining(refused));
  });
});
