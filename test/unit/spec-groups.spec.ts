import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { specsIn } from '../groups/describe-specs.js';
import LongestFirst from '../groups/longest-first.cjs';
import singleSpecs from '../groups/single-specs.cjs';

const TESTS = join(__dirname, '..');
const GROUPS = join(TESTS, 'groups');
const context = { config: { cache: false }, hasteFS: { getSize: () => 1_000 } };
const testAt = (path: string) => ({ path: join(TESTS, path), context });
const specPath = (name: string) => join(TESTS, `${name}.spec.ts`);

describe('the groups of specs', () => {
  it('contain each spec once', () => {
    const texts = readdirSync(GROUPS)
      .filter((name) => name.endsWith('.group.ts'))
      .map((name) => readFileSync(join(GROUPS, name), 'utf8'));
    const folders = texts.flatMap((text) =>
      [...text.matchAll(/'([a-z][a-z0-9/-]*)'/g)].map(([, folder = '']) => folder),
    );
    expect(folders.flatMap((folder) => specsIn(folder)).toSorted()).toEqual(specsIn('.').toSorted());
  });

  it('leave out only specs that exist', () => {
    expect(singleSpecs.filter((name) => !existsSync(specPath(name)))).toEqual([]);
  });

  it('start with the longest if none was measured', () => {
    const given = ['processes/kill', 'contract/service', 'groups/agents', 'unit/none'];
    const files = ['processes/kill.spec.ts', 'contract/service.spec.ts', 'groups/agents.group.ts', 'unit/none.spec.ts'];
    const sorted = new LongestFirst().sort(files.map(testAt)).map(({ path }) => files.indexOf(relative(TESTS, path)));
    const seconds = given.map((name) => LongestFirst.SECONDS[name] ?? 0);
    expect(sorted.map((index) => seconds[index])).toEqual(seconds.toSorted((a, b) => b - a));
    expect(sorted).not.toEqual(files.map((_file, index) => index));
  });

  it('have an estimate only if they exist', () => {
    const files = Object.keys(LongestFirst.SECONDS).flatMap((name) => [
      specPath(name),
      join(TESTS, `${name}.group.ts`),
    ]);
    expect(files.filter((file) => existsSync(file))).toHaveLength(Object.keys(LongestFirst.SECONDS).length);
  });
});
