import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');
const ADAPTERS = join(ROOT, 'src/adapters');

/** What docs/explain.md says of each adapter. */
function rows(): (readonly [adapter: string, said: string])[] {
  const page = readFileSync(join(ROOT, 'docs/explain.md'), 'utf8');
  const [, table = ''] = /\n### In other frameworks\n(.*?)\n### /s.exec(page) ?? [];
  return table.split('\n').flatMap((line) => {
    const [, names = '', said = ''] = line.split('|');
    return [...names.matchAll(/\(adapters\/([\w-]+)\.md/g)].map(([, name = '']) => [name, said.trim()] as const);
  });
}

function sourceOf(adapter: string): string {
  const files = readdirSync(join(ADAPTERS, adapter)).filter((name) => name.endsWith('.ts'));
  return files.map((name) => readFileSync(join(ADAPTERS, adapter, name), 'utf8')).join('\n');
}

describe('The table of adapters that say what a model was given', () => {
  it('has each adapter', () => {
    const adapters = readdirSync(ADAPTERS).filter((name) => name !== 'shared');
    expect(
      rows()
        .map(([adapter]) => adapter)
        .toSorted(),
    ).toEqual(adapters.toSorted());
  });

  it.each(rows())('says of %s what its code does: %s', (adapter, said) => {
    expect(said.startsWith('yes')).toBe(/\bmodelRequest\b/.test(sourceOf(adapter)));
  });
});
