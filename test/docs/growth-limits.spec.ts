import { readFileSync } from 'node:fs';
import { MAX_PROBLEM_LENGTH } from '../../src/sessions/domain/background/consumer-work.js';
import { MAX_FILTER_ENTRIES, METADATA_LIMITS } from '../../src/sessions/domain/metadata/metadata-limits.js';

const { tags, labels, fields, reserved, bytes } = METADATA_LIMITS;
const SAID: readonly (readonly [page: string, text: string])[] = [
  ['metadata', `names, at most ${tags} |`],
  ['metadata', `names and values are names, at most ${labels} |`],
  ['metadata', `any JSON values, at most ${fields} |`],
  ['metadata', `at most ${bytes.toLocaleString('en')} bytes`],
  ['metadata', `A filter has at most ${MAX_FILTER_ENTRIES} entries`],
  ['agents', `At most ${reserved} messages and approvals wait in a session`],
  ['consumers', `${MAX_PROBLEM_LENGTH} characters of the last error`],
];

describe('The fixed limits of what clients can make grow', () => {
  it.each(SAID)('are said in docs/%s.md: %s', (page, text) => {
    expect(readFileSync(`docs/${page}.md`, 'utf8')).toContain(text);
  });
});
