import { join } from 'node:path';

/** The script that writes the pages. It has no types. */
interface Script {
  adapterPages(): readonly { readonly file: string; readonly text: string; readonly expected: string }[];
}

const script = join(__dirname, '../../docs/adapters-table.mjs');

describe('The table of adapters', () => {
  it('matches the results of their suites (npm run docs:adapters -- --table updates it)', async () => {
    const { adapterPages } = (await import(script)) as Script;
    const pages = adapterPages();
    expect(pages.map(({ file }) => file)).toEqual(['README.md', 'docs/adapters.md']);
    for (const { text, expected } of pages) expect(text).toBe(expected);
  });
});
