import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SURFACE_TABLES } from './surface-tables.js';

const pathOf = (page: string): string => join(__dirname, '../../docs', page);

/** Writes the tables if `WRITE_DOCS` is set: `npm run docs:surface`. */
describe.each(Object.keys(SURFACE_TABLES))('docs/%s', (page) => {
  it('has the tables that follow from the operations', () => {
    const written = readFileSync(pathOf(page), 'utf8');
    const wanted = (SURFACE_TABLES[page] ?? []).reduce(withTable, written);
    if (process.env.WRITE_DOCS) writeFileSync(pathOf(page), wanted);
    else expect(written).toBe(wanted);
  });
});

function withTable(
  text: string,
  { name, lines }: { readonly name: string; readonly lines: readonly string[] },
): string {
  const [start, end] = [`<!-- ${name}: npm run docs:surface -->\n`, `\n<!-- /${name} -->`];
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`There is no place for the table "${name}": ${start}`);
  return `${text.slice(0, from)}${start}\n${lines.join('\n')}\n${text.slice(to)}`;
}
