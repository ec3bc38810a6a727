import {
  findCycles,
  findForbiddenImports,
  findLongFiles,
  findOwnRetries,
  findPeersReached,
  findStrayPeers,
  findVagueNames,
} from './checks.js';
import { type Layer, PUBLIC_NAMES } from './rules.js';
import { type SourceFile, parseSourceFile } from './source-files.js';

const layers: Layer[] = [
  { name: 'app', files: /^main\.ts$/, mayImport: 'everything' },
  { name: 'core', files: /^core\/.+$/, mayImport: [], packages: /^node:/ },
  { name: 'stores/$1', files: /^stores\/([^/]+)\/.+$/, mayImport: ['core'] },
];

function filesOf(texts: Record<string, string>): SourceFile[] {
  return Object.entries(texts).map(([path, text]) => parseSourceFile(path, text));
}

describe('parseSourceFile', () => {
  it.each([
    ["import a from './a.js';"],
    ["import './a.js';"],
    ["import type { A } from './a.js';"],
    ["import { type A } from './a.js';"],
    ["export * from './a.js';"],
    ["export type { A } from './a.js';"],
    ["type A = import('./a.js').A;"],
    ["import a = require('./a.js');"],
    ["const a = require('./a.js');"],
  ])('sees %s', (text) => {
    expect(parseSourceFile('b.ts', text).imports).toEqual([{ specifier: './a.js', line: 1, isDynamic: false }]);
  });

  it.each([["const a = await import('./a.js');"], ["const a = () => import('./a.js');"]])(
    'sees %s as dynamic',
    (text) => {
      expect(parseSourceFile('b.ts', text).imports).toEqual([{ specifier: './a.js', line: 1, isDynamic: true }]);
    },
  );

  it('takes no comment and no string for an import', () => {
    const text = "// import './a.js';\nconst text = \"import './b.js'\";\nimport './c.js';\n";

    expect(parseSourceFile('d.ts', text)).toMatchObject({ lines: 3, imports: [{ specifier: './c.js', line: 3 }] });
  });
});

describe('findForbiddenImports', () => {
  it('accepts what the layers allow', () => {
    const files = filesOf({
      'main.ts': "import './core/a.js'; import './stores/x/s.js'; import '@nestjs/core';",
      'core/a.ts': "import './deep/b.js'; import 'node:crypto';",
      'core/deep/b.ts': '',
      'stores/x/s.ts': "import './t.js'; import '../../core/a.js'; import 'typeorm';",
      'stores/x/t.ts': '',
    });

    expect(findForbiddenImports(files, layers)).toEqual([]);
  });

  it('names the file, the line and the import', () => {
    const files = filesOf({ 'core/a.ts': "\nimport type { S } from '../stores/x/s.js';", 'stores/x/s.ts': '' });

    expect(findForbiddenImports(files, layers)).toEqual([
      "core/a.ts:2 imports '../stores/x/s.js': core may import no other layer, not stores/x",
    ]);
  });

  it('separates the folders of one rule', () => {
    const files = filesOf({ 'stores/x/s.ts': "export * from '../y/s.js';", 'stores/y/s.ts': '' });

    expect(findForbiddenImports(files, layers)).toEqual([
      "stores/x/s.ts:1 imports '../y/s.js': stores/x may import only core, not stores/y",
    ]);
  });

  it('allows no import of a layer that no other layer lists', () => {
    const files = filesOf({ 'main.ts': '', 'stores/x/s.ts': "await import('../../main.js');" });

    expect(findForbiddenImports(files, layers)).toEqual([
      "stores/x/s.ts:1 imports '../../main.js': stores/x may import only core, not app",
    ]);
  });

  describe('of public names', () => {
    const files = filesOf({
      'core/index.ts': '',
      'core/a.ts': '',
      'plugins/x/index.ts': "import '../../core/index.js'; import './p.js';",
      'plugins/x/p.ts': "import '../../core/a.js';\nimport '../y/index.js';",
      'plugins/y/index.ts': '',
    });
    const withPlugins: Layer[] = [
      { name: 'core', files: /^core\/.+$/, mayImport: [] },
      { name: 'plugins/$1', files: /^plugins\/([^/]+)\/.+$/, mayImport: [PUBLIC_NAMES] },
    ];

    it('accepts only files that the package exports, and none of its own kind', () => {
      const entries = new Set(['core/index.ts', 'plugins/x/index.ts', 'plugins/y/index.ts']);

      expect(findForbiddenImports(files, withPlugins, entries)).toEqual([
        "plugins/x/p.ts:1 imports '../../core/a.js': plugins/x may import only public names, not core",
        "plugins/x/p.ts:2 imports '../y/index.js': plugins/x may import only public names, not plugins/y",
      ]);
    });
  });

  it('lets a folder of a layer import those before it', () => {
    const ordered: Layer = {
      name: 'core',
      files: /^core\/([^/]+)\/.+$/,
      mayImport: [],
      foldersInOrder: ['values', 'events'],
    };
    const inOrder = filesOf({
      'core/values/a.ts': "import './b.js';\nimport '../events/c.js';",
      'core/values/b.ts': '',
      'core/events/c.ts': "import '../values/b.js';",
      'core/more/d.ts': "import '../values/b.js';",
    });

    expect(findForbiddenImports(inOrder, [ordered])).toEqual([
      "core/values/a.ts:2 imports '../events/c.js': values may import no other layer, not events",
      "core/more/d.ts:1 imports '../values/b.js': more has no place among the folders of core",
    ]);
  });

  it('refuses packages where a layer does without', () => {
    expect(findForbiddenImports(filesOf({ 'core/a.ts': "import 'rxjs';" }), layers)).toEqual([
      "core/a.ts:1 imports 'rxjs': core is kept free of packages",
    ]);
  });

  it('refuses files outside of all layers', () => {
    const files = filesOf({ 'new/a.ts': '', 'core/a.ts': "import '../b.js';" });

    expect(findForbiddenImports(files, layers)).toEqual([
      'new/a.ts belongs to no layer: give it one in test/architecture/rules.ts',
      "core/a.ts:1 imports '../b.js': that file belongs to no layer of src",
    ]);
  });
});

describe('findStrayPeers', () => {
  const folders = { orm: 'stores/x/', '@scope/driver': 'stores/x/' };

  it('accepts a peer in its folder', () => {
    expect(findStrayPeers(filesOf({ 'stores/x/s.ts': "import 'orm'; import '@scope/driver/deep';" }), folders)).toEqual(
      [],
    );
  });

  it('finds an import of a peer outside its folder, also of a path in the package', () => {
    const files = filesOf({ 'main.ts': "import 'orm/deep.js';\nimport type { D } from '@scope/driver';" });

    expect(findStrayPeers(files, folders)).toEqual([
      "main.ts:1 imports 'orm/deep.js': only stores/x/ may import this optional peer",
      "main.ts:2 imports '@scope/driver': only stores/x/ may import this optional peer",
    ]);
  });
});

describe('findPeersReached', () => {
  const files = filesOf({
    'index.ts': "export * from './a.js';",
    'a.ts': "import type { B } from './b.js';",
    'b.ts': "import type { Orm } from 'orm';",
    'other.ts': '',
  });

  it('shows the way to the peer', () => {
    expect(findPeersReached(files, ['index.ts'], ['orm'])).toEqual([
      'index.ts must not need the optional peer orm: index.ts -> a.ts -> b.ts -> orm',
    ]);
  });

  it('accepts an entry that does without', () => {
    expect(findPeersReached(files, ['other.ts'], ['orm'])).toEqual([]);
  });
});

describe('findCycles', () => {
  it('finds a cycle once, whether of values or of types', () => {
    const files = filesOf({
      'a.ts': "import './b.js';",
      'b.ts': "import type { C } from './c.js';",
      'c.ts': "export * from './a.js';",
      'd.ts': "import './a.js';",
    });

    expect(findCycles(files)).toEqual(['cycle: a.ts -> b.ts -> c.ts -> a.ts']);
  });

  it('finds a file that imports itself', () => {
    expect(findCycles(filesOf({ 'a.ts': "import './a.js';" }))).toEqual(['cycle: a.ts -> a.ts']);
  });

  it('accepts two ways to the same file', () => {
    const files = filesOf({ 'a.ts': "import './b.js'; import './c.js';", 'b.ts': "import './c.js';", 'c.ts': '' });

    expect(findCycles(files)).toEqual([]);
  });
});

describe('findOwnRetries', () => {
  it.each([
    ['for (;;) {\n  try { return await save(); } catch (error) { if (!isStale(error)) throw error; }\n}', [1]],
    ['while (!done) {\n  try { await save(); done = true; } catch {}\n}', [1]],
    [
      'for (let round = 0; round < 9; round++) {\n  if (ready) try { await save(); } catch (error) { note(error); }\n}',
      [1],
    ],
    ['const MAX_TRIES = 50;\nfor (let tries = 0; tries < MAX_TRIES; tries++) if (await save()) break;', [1, 2]],
    ["import { setTimeout as delay } from 'node:timers/promises';\nawait delay(Math.random() * 10);", [2]],
  ])('finds what tries again in %j', (text, lines) => {
    expect(parseSourceFile('a.ts', text).retryLines).toEqual(lines);
  });

  it.each([
    'for (const each of all) {\n  try { await save(each); } catch (error) { note(error); }\n}',
    'for (;;) {\n  try { page = await read(); } catch (error) { throw failed(error); }\n}',
    'while (left) {\n  queue.push(async () => { try { await save(); } catch (error) { note(error); } });\n}',
    'const MAX_ENTRIES = 50;\nconst place = Math.floor(Math.random() * MAX_ENTRIES);',
  ])('accepts %j', (text) => {
    expect(parseSourceFile('a.ts', text).retryLines).toEqual([]);
  });

  it('wants a reason for each such file, and no reason without one', () => {
    const files = filesOf({ 'a.ts': 'const MOST_ATTEMPTS = 3;', 'b.ts': 'const MAX_RETRIES = 3;', 'c.ts': '' });

    expect(findOwnRetries(files, { 'b.ts': 'It waits for a lock.', 'c.ts': 'It waits for a lock.' })).toEqual([
      expect.stringMatching(/^a\.ts:1 tries again in its own way: use /),
      'c.ts has a reason to try again in its own way, but does not: remove the reason',
    ]);
  });
});

describe('The rules about files', () => {
  it('find vague names of files and folders', () => {
    const files = filesOf({ 'core/utils.ts': '', 'common/a.ts': '', 'core/common-sense.ts': '' });

    expect(findVagueNames(files, ['utils', 'common'])).toEqual([
      "core/utils.ts is named 'utils', which says nothing: name what it does",
      "common/a.ts is named 'common', which says nothing: name what it does",
    ]);
  });

  it('find files that are too long', () => {
    const files = filesOf({ 'a.ts': '\n\n\nend\n', 'b.ts': '\n\nend\n' });

    expect(findLongFiles(files, 3)).toEqual(['a.ts has 4 lines, 3 are allowed: split it']);
  });
});
