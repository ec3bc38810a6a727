import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');
const ADAPTERS = join(ROOT, 'src/adapters');

/** The adapters to which docs/explain.md links, since they say what a model was given. */
function linked(): string[] {
  const page = readFileSync(join(ROOT, 'docs/explain.md'), 'utf8');
  const [, section = ''] = /\n### In other frameworks\n(.*?)\n###? /s.exec(page) ?? [];
  return [...section.matchAll(/\(adapters\/([\w-]+)\.md/g)].map(([, name = '']) => name);
}

function saysRequests(adapter: string): boolean {
  const files = readdirSync(join(ADAPTERS, adapter)).filter((name) => name.endsWith('.ts'));
  return files.some((name) => /\bmodelRequest\b/.test(readFileSync(join(ADAPTERS, adapter, name), 'utf8')));
}

it('The docs name each adapter that says what a model was given, and no other one', () => {
  const adapters = readdirSync(ADAPTERS).filter((name) => name !== 'shared');
  expect(linked().toSorted()).toEqual(adapters.filter(saysRequests).toSorted());
});
