import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  findCycles,
  findForbiddenImports,
  findLongFiles,
  findOwnRetries,
  findPeersReached,
  findStrayPeers,
  findVagueNames,
} from './checks.js';
import { publicFiles } from './entry-points.js';
import { handedFunctionsIn } from './handed-functions.js';
import {
  appFiles,
  browserEntries,
  decidingRules,
  entriesWithoutPeers,
  handedFunctions,
  layers,
  maxLines,
  ownRetries,
  peerFolders,
  vagueNames,
} from './rules.js';
import { isPackage, readRunningFiles, readSourceFiles, targetOf } from './source-files.js';

interface Manifest {
  readonly exports: Record<string, string | { readonly types: string; readonly default: string }>;
  readonly peerDependenciesMeta: Record<string, { readonly optional: boolean }>;
}

const manifest = JSON.parse(readFileSync(resolve('package.json'), 'utf8')) as Manifest;
const files = readSourceFiles(resolve('src'));
const packageFiles = files.filter(({ path }) => !appFiles.test(path));
const peers = Object.keys(peerFolders);

describe('The source code', () => {
  it('imports only what its layer may import', () => {
    expect(findForbiddenImports(files, layers, publicFiles)).toEqual([]);
  });

  it('has no import cycles', () => {
    expect(findCycles(files)).toEqual([]);
  });

  it('has names that say something', () => {
    expect(findVagueNames(files, vagueNames)).toEqual([]);
  });

  it('tries again in one way', () => {
    expect(findOwnRetries(files, ownRetries)).toEqual([]);
  });

  it('hands no function down to the rooms of a run, but those of the app and a few with a reason', () => {
    const handed = files
      .filter(({ path }) => /^agents\/(ask|invocation|turn)\//.test(path))
      .flatMap(({ path }) =>
        handedFunctionsIn(readFileSync(resolve('src', path), 'utf8')).map((name) => `${path}: ${name}`),
      );
    expect([...new Set(handed)].toSorted()).toEqual(Object.keys(handedFunctions).toSorted());
  });

  it('decides nothing in a store', () => {
    const folder = resolve('src/sessions/storage');
    const deciding = new RegExp(String.raw`\b(${decidingRules.join('|')})\b`, 'g');
    const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => {
        const names = readFileSync(resolve(folder, path), 'utf8').match(deciding) ?? [];
        return names.map((name) => `${path} names ${name}: a store compares and writes, sessions/writes decides`);
      });
    expect(found).toEqual([]);
  });

  it('asks for no import.meta, which Jest cannot compile to CommonJS in an app', () => {
    const asking = files.filter(({ path }) => readFileSync(resolve('src', path), 'utf8').includes('import.meta.'));
    expect(asking.map(({ path }) => path)).toEqual([]);
  });

  it(`has no file of more than ${maxLines} lines`, () => {
    expect(findLongFiles(files, maxLines)).toEqual([]);
  });
});

describe('Optional peer dependencies', () => {
  it('all have a folder of their own', () => {
    expect(peers.toSorted()).toEqual(Object.keys(manifest.peerDependenciesMeta).toSorted());
  });

  it('are imported in their folder only', () => {
    expect(findStrayPeers(packageFiles, peerFolders)).toEqual([]);
  });

  it('are not reached from the entry points that work without them', () => {
    expect(findPeersReached(files, entriesWithoutPeers, peers)).toEqual([]);
  });
});

describe('Code for browsers', () => {
  it('reaches nothing of Node, and no package', () => {
    const running = readRunningFiles(resolve('src'));
    const packages = running.flatMap(({ path, imports }) =>
      imports.filter(({ specifier }) => isPackage(specifier)).map(({ specifier }) => targetOf(path, specifier)),
    );
    expect(packages).toContain('node:crypto');
    expect(findPeersReached(running, browserEntries, [...new Set(packages)])).toEqual([]);
  });
});

describe('The exports of the package', () => {
  const builtFiles = Object.values(manifest.exports).filter((target) => typeof target !== 'string');

  it.each(builtFiles)('are built from a source file: $default', ({ types, default: code }) => {
    const source = code.replace('./dist/', '').replace(/\.js$/, '.ts');

    expect(files.map(({ path }) => path)).toContain(source);
    expect(types).toBe(code.replace(/\.js$/, '.d.ts'));
  });
});
