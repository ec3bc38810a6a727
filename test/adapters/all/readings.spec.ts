import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InMemorySessionStorage, SessionService } from '../../../src/index.js';
import { cellOf } from './support/facts.js';
import { READERS } from './support/readers.js';
import { WRITERS, type Writer } from './support/writers.js';

const PAGE = join(__dirname, '../../../docs/adapters.md');
const [BEGIN, END] = ['<!-- readings: written by `npm run docs:adapters` -->', '<!-- end of readings -->'];

/** The page says so in a sentence. */
const READS_OWN = ['LangGraph', 'Claude', 'A2A'];

describe('What each framework reads of what another one wrote', () => {
  it('is what the docs say', async () => {
    const rows = await Promise.all(WRITERS.map(rowOf));
    const shown = READERS.flatMap(({ name }, column) => (isOfOthers(rows, column) ? [{ name, column }] : []));
    expect(READERS.filter(({ name }) => !shown.some((reader) => reader.name === name)).map(({ name }) => name)).toEqual(
      READS_OWN,
    );
    const lines = new Map<string, string[]>();
    for (const [index, { name }] of WRITERS.entries()) {
      const cells = shown.map(({ column }) => rows[index]?.[column]).join(' | ');
      lines.set(cells, [...(lines.get(cells) ?? []), name]);
    }
    const table = [
      `| written by ↓, read by → | ${shown.map(({ name }) => name).join(' | ')} |`,
      `|---|${'---|'.repeat(shown.length)}`,
      ...Array.from(lines, ([cells, names]) => `| ${names.join('; ')} | ${cells} |`),
    ].join('\n');
    const page = readFileSync(PAGE, 'utf8');
    const [before = '', rest = ''] = page.split(BEGIN);
    const [written = '', after = ''] = rest.split(END);
    if (process.env.ADAPTER_RESULTS) writeFileSync(PAGE, `${before}${BEGIN}\n\n${table}\n\n${END}${after}`);
    // `npm run docs:adapters` writes it.
    else expect(table).toBe(written.trim());
  });
});

/** Whether a reader gets anything that another one wrote. */
function isOfOthers(rows: readonly string[][], column: number): boolean {
  return rows.filter((cells) => cells[column] !== 'nothing').length > 1;
}

/** The cells of a writer. */
async function rowOf({ had, write }: Writer): Promise<string[]> {
  const sessions = new SessionService({ storage: new InMemorySessionStorage() });
  await write(sessions);
  const cells: string[] = [];
  for (const { read } of READERS) cells.push(cellOf(had, await read(sessions)));
  await sessions.finish();
  return cells;
}
