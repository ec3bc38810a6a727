import { readFileSync } from 'node:fs';
import { SessionService } from '../../src/index.js';
import { TRACED_OPERATIONS } from '../../src/telemetry/index.js';
import { methodsOf } from '../support/methods-of.js';

/** The pages with tables of names, and the names. */
const PAGES: readonly (readonly [page: string, names: readonly string[]])[] = [
  ['docs/service.md', methodsOf(SessionService)],
  ['docs/telemetry.md', TRACED_OPERATIONS],
];

describe('The tables of names', () => {
  it.each(PAGES)('in %s lack no name', (page, names) => {
    const rows = readFileSync(page, 'utf8').match(/^\|.*$/gm) ?? [];
    const shown = new Set(rows.join('\n').match(/(?<=`)\w+(?=`)/g));
    expect(names.filter((name) => !shown.has(name))).toEqual([]);
  });
});
