import { readFileSync } from 'node:fs';
import { MAX_PROBLEM_LENGTH } from '../../src/sessions/domain/consumer-work.js';
import { MAX_FILTER_ENTRIES, METADATA_LIMITS } from '../../src/sessions/domain/metadata-entries.js';

const [, section = ''] = readFileSync('docs/operations.md', 'utf8').split('## What clients can make grow');
const [table = ''] = section.split('\n## ');
const shown = (count: number): string => count.toLocaleString('en');

describe('The table of what clients can make grow', () => {
  it('has the fixed limits of the code', () => {
    const { tags, labels, fields, reserved, bytes } = METADATA_LIMITS;
    expect(table).toContain(`${tags} tags, ${labels} labels, ${fields} fields, together ${shown(bytes)} bytes`);
    expect(table).toContain(`| messages and approvals that wait in a session | ${reserved} |`);
    expect(table).toContain(`${MAX_FILTER_ENTRIES} entries`);
    expect(table).toContain(`${MAX_PROBLEM_LENGTH} characters of the error`);
  });
});
