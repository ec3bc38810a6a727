import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InMemorySessionStorage, SessionService } from '../../../src/index.js';
import { cellOf } from './support/facts.js';
import { READERS } from './support/readers.js';
import { WRITERS, type Writer } from './support/writers.js';

const PAGE = join(__dirname, '../../../docs/adapters.md');
const [BEGIN, END] = ['<!-- readings: written by `npm run docs:adapters` -->', '<!-- end of readings -->'];

describe('What each framework reads of what another one wrote', () => {
  it('is what the docs say', async () => {
    const rows = await Promise.all(WRITERS.map(rowOf));
    const names = READERS.map(({ name }) => name);
    const table = [
      `| written by ↓, read by → | ${names.join(' | ')} |`,
      `|---|${'---|'.repeat(names.length)}`,
      ...WRITERS.map(({ name }, index) => `| ${name} | ${rows[index]?.join(' | ')} |`),
    ].join('\n');
    const page = readFileSync(PAGE, 'utf8');
    const [before = '', rest = ''] = page.split(BEGIN);
    const [shown = '', after = ''] = rest.split(END);
    if (process.env.ADAPTER_RESULTS) writeFileSync(PAGE, `${before}${BEGIN}\n\n${table}\n\n${END}${after}`);
    // `npm run docs:adapters` writes it.
    else expect(table).toBe(shown.trim());
  });
});

/** The cells of a writer. */
async function rowOf({ had, write }: Writer): Promise<string[]> {
  const sessions = new SessionService({ storage: new InMemorySessionStorage() });
  await write(sessions);
  const cells: string[] = [];
  for (const { read } of READERS) cells.push(cellOf(had, await read(sessions)));
  await sessions.finish();
  return cells;
}
