import { readFileSync, readdirSync } from 'node:fs';

const page = readFileSync('docs/security.md', 'utf8');
const specs = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.spec.ts'))
  .map((path) => `test/${path.replaceAll('\\', '/')}`);

it.each([...page.matchAll(/`(test\/[^`]+)`/g)].flatMap(([, places = '']) => places.split(' ')))(
  'The specs that show a measure are there: %s',
  (place) => {
    expect(specs.filter((spec) => spec.startsWith(place))).not.toEqual([]);
  },
);

it('Each threat has a spec', () => {
  const rows = page.split('\n').filter((line) => /^\| (API|\|)/.test(line));
  expect(rows.length).toBeGreaterThan(15);
  expect(rows.filter((row) => !row.includes('`test/'))).toEqual([]);
});
