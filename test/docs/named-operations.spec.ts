import { readFileSync } from 'node:fs';
import { SessionService } from '../../src/index.js';
import { methodsOf } from '../support/methods-of.js';

it('The tables of docs/service.md lack no method', () => {
  const rows = readFileSync('docs/service.md', 'utf8').match(/^\|.*$/gm) ?? [];
  const shown = new Set(rows.join('\n').match(/(?<=`)\w+(?=`)/g));
  expect(methodsOf(SessionService).filter((name) => !shown.has(name))).toEqual([]);
});
