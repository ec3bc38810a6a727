import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { specsIn } from '../groups/describe-specs.js';
import { parseEnv } from 'node:util';
import layer from '../groups/layer.cjs';
import LongestFirst from '../groups/longest-first.cjs';
import singleSpecs from '../groups/single-specs.cjs';

const TESTS = join(__dirname, '..');
const GROUPS = join(TESTS, 'groups');
const context = { config: { cache: false }, hasteFS: { getSize: () => 1_000 } };
const testAt = (path: string) => ({ path: join(TESTS, path), context });
const specPath = (name: string) => join(TESTS, `${name}.spec.ts`);

const groupTexts = (): string[] =>
  readdirSync(GROUPS)
    .filter((name) => name.endsWith('.group.ts'))
    .map((name) => readFileSync(join(GROUPS, name), 'utf8'));
const foldersOf = (text: string): string[] =>
  [...text.matchAll(/'([a-z][a-z0-9/-]*)'/g)].map(([, folder = '']) => folder);

describe('the groups of specs', () => {
  it('contain each spec once', () => {
    const folders = groupTexts().flatMap(foldersOf);
    expect(folders.flatMap((folder) => specsIn(folder)).toSorted()).toEqual(specsIn('.').toSorted());
  });

  it('leave out only specs that exist', () => {
    expect(singleSpecs.filter((name) => !existsSync(specPath(name)))).toEqual([]);
  });

  it('leave nothing out of the full layer, and name what exists in what the fast one leaves out', () => {
    const specs = [...specsIn('.'), ...singleSpecs];
    expect(specs.filter((name) => !layer.has(name, false))).toEqual([]);
    const left = Object.values(layer.FULL_ONLY).flat();
    expect(left.filter((path) => !existsSync(specPath(path)) && !existsSync(join(TESTS, path)))).toEqual([]);
    expect(specs.filter((name) => !layer.has(name, true)).length).toBeGreaterThanOrEqual(left.length);
  });

  it('have specs in both layers, since Jest refuses an empty file', () => {
    const empty = groupTexts().filter(
      (text) =>
        !foldersOf(text)
          .flatMap(specsIn)
          .some((name) => layer.has(name, true)),
    );
    expect(empty).toEqual([]);
  });

  it('print the layer and what it leaves to the other', () => {
    const printed = layer.lines('fast').join('\n');
    expect(
      Object.values(layer.FULL_ONLY)
        .flat()
        .filter((path) => !printed.split(/[\s,]+/).includes(path)),
    ).toEqual([]);
    expect(layer.lines('full')).toEqual([expect.stringContaining('full')]);
  });

  it('are both run by CI, each as its command names it', () => {
    const { scripts } = JSON.parse(readFileSync(join(TESTS, '../package.json'), 'utf8'));
    const layerOf = (script: string): string | undefined => {
      const [, file = ''] = /--env-file=(\S+)/.exec(scripts[script]) ?? [];
      return parseEnv(readFileSync(join(TESTS, '..', file), 'utf8')).LAYER;
    };
    expect(['test', 'test:full', 'test:embedded'].map(layerOf)).toEqual(['fast', 'full', 'full']);
    const run = readFileSync(join(TESTS, '../.ci/run'), 'utf8');
    expect([...run.matchAll(/^\s+layer \d+ (\S+)/gm)].map(([, script]) => script)).toEqual(['test', 'test:full']);
  });

  it('start with the longest if none was measured', () => {
    const given = ['processes/kill', 'contract/service', 'groups/agents', 'unit/none'];
    const files = ['processes/kill.spec.ts', 'contract/service.spec.ts', 'groups/agents.group.ts', 'unit/none.spec.ts'];
    const sorted = new LongestFirst().sort(files.map(testAt)).map(({ path }) => files.indexOf(relative(TESTS, path)));
    const seconds = given.map((name) => LongestFirst.SECONDS[name] ?? 0);
    expect(sorted.map((index) => seconds[index])).toEqual(seconds.toSorted((a, b) => b - a));
    expect(sorted).not.toEqual(files.map((_file, index) => index));
  });

  it('are each in one of the parts that CI runs side by side', () => {
    const workflow = readFileSync(join(TESTS, '../.github/workflows/ci.yml'), 'utf8');
    const [, list = ''] = /shard: \[(.*)\]/.exec(workflow) ?? [];
    const shards = Array.from(list.matchAll(/(\d+)\/(\d+)/g), ([, index, count]) => [Number(index), Number(count)]);
    expect(shards.length).toBeGreaterThan(1);
    const files = [...Object.keys(LongestFirst.SECONDS), 'unit/one', 'unit/two'].map((name) =>
      testAt(`${name}.spec.ts`),
    );
    const parts = shards.map(([shardIndex = 0, shardCount = 0]) =>
      new LongestFirst().shard(files.toReversed(), { shardIndex, shardCount }),
    );
    expect(parts.flat()).toHaveLength(files.length);
    expect(new Set(parts.flat())).toEqual(new Set(files));
    const sizes = parts.map((part) => part.length);
    expect(Math.min(...sizes)).toBeGreaterThan(0);
  });

  it('have an estimate only if they exist', () => {
    const files = Object.keys(LongestFirst.SECONDS).flatMap((name) => [
      specPath(name),
      join(TESTS, `${name}.group.ts`),
    ]);
    expect(files.filter((file) => existsSync(file))).toHaveLength(Object.keys(LongestFirst.SECONDS).length);
  });
});
