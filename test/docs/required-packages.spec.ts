import { readFileSync } from 'node:fs';
import { peersLoaded } from '../architecture/checks.js';
import { entryPoints } from '../architecture/entry-points.js';
import { readRunningFiles } from '../architecture/source-files.js';

const { peerDependencies, peerDependenciesMeta } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
};
const files = readRunningFiles('src');
const [, section = ''] = readFileSync('docs/configuration.md', 'utf8').split('### Packages of each import');
const [table = ''] = section.split('\n### ');

/** The commands of each import that the table has. */
const told = new Map<string, string[][]>(
  [...table.matchAll(/^\| (`\/.*?) \| (.*) \|$/gm)].flatMap(([, imports = '', cell = '']) => {
    const commands = [...cell.matchAll(/`npm install ([^`]+)`/g)].map(([, packages = '']) => packages.split(' '));
    return [...imports.matchAll(/`\/([^`]+)`/g)].map(([, path]) => [`./${path}`, commands] as const);
  }),
);

const nameOf = (spec: string): string => spec.replace(/(?<=.)@.*$/, '');

describe('The packages of each import', () => {
  it.each(entryPoints)('has what $subpath loads', ({ subpath, entry }) => {
    const loaded = peersLoaded(files, entry.replace('src/', ''), Object.keys(peerDependenciesMeta)).toSorted();
    const commands = told.get(subpath) ?? [];
    expect(commands.length > 0).toBe(loaded.length > 0);
    for (const packages of commands) expect(packages.map(nameOf).toSorted()).toEqual(loaded);
  });

  it('has versions that the package allows, and nothing else', () => {
    expect([...told.keys()].filter((path) => !entryPoints.some(({ subpath }) => subpath === path))).toEqual([]);
    const pinned = [...told.values()].flat(2).filter((spec) => nameOf(spec) !== spec);
    expect(pinned.length).toBeGreaterThan(0);
    for (const spec of pinned) {
      const name = nameOf(spec);
      expect(peerDependencies[name]).toMatch(new RegExp(`\\^${spec.slice(name.length + 1)}\\.`));
    }
  });
});
