import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const collection = JSON.parse(readFileSync(new URL('../../schematics/collection.json', import.meta.url), 'utf8'));
const dist = fileURLToPath(new URL('../../dist/', import.meta.url));

/** Room to grow, yet a folder of data or a second build would not go unnoticed. */
const MOST_BYTES = 2_500_000;
const MOST_FILES = 250;
/** Files of the package that are loaded with the root: each takes time when an app starts. */
const MOST_LOADED = 5;

const allowed =
  /^(dist\/.+\.(js|js\.map|d\.ts)|dist\/inspector\/page\/(names\.json|[a-z-]+-[\dA-Z]{8}\.(js|css))|docs\/(.+\.md|schema\.graphql)|schematics\/[a-z-]+\.json|\.env\.example|README\.md|LICENSE|CHANGELOG\.md|package\.json)$/;
const ofApp = /^dist\/(main|config\/app\.config)\.|\.(spec|test)\./;

/** Whether the tarball has what its manifest promises, and nothing else. */
export function checkTarball({ files, size }, manifest) {
  const paths = files.map(({ path }) => path);
  const targets = Object.values(manifest.exports).flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target),
  );
  const typesOfOld = Object.values(manifest.typesVersions['*']).flat();
  for (const target of [...targets, ...typesOfOld, manifest.main, manifest.types]) {
    assert.ok(paths.includes(target.replace('./', '')), `${target} is missing`);
  }
  assert.deepEqual(
    Object.keys(manifest.typesVersions['*']),
    Object.keys(manifest.exports).flatMap((entry) => /^\.\/(?<name>[\w/-]+)$/.exec(entry)?.groups.name ?? []),
  );
  for (const { factory } of Object.values(collection.schematics)) {
    const [file] = join('schematics', factory).split('#');
    assert.ok(paths.includes(file), `${file} is missing`);
  }
  assert.deepEqual(
    paths.filter((path) => !allowed.test(path) || ofApp.test(path)),
    [],
  );
  assert.ok(size <= MOST_BYTES, `${size} bytes`);
  assert.ok(paths.length <= MOST_FILES, `${paths.length} files`);
}

/** Whether the root loads few files, and no optional package. */
export function checkLoaded(manifest) {
  const loaded = new Set();
  const packages = new Set();
  load('index.js');
  assert.ok(loaded.size <= MOST_LOADED, `the root loads ${[...loaded].join(', ')}`);
  const optional = Object.keys(manifest.peerDependenciesMeta);
  assert.deepEqual(
    [...packages].filter((name) => optional.some((other) => name === other || name.startsWith(`${other}/`))),
    [],
  );

  function load(file) {
    if (loaded.has(file)) return;
    loaded.add(file);
    const code = readFileSync(join(dist, file), 'utf8');
    for (const [, from] of code.matchAll(/^(?:import|export) (?:[^'"]*? from )?'([^']+)';$/gm)) {
      if (from.startsWith('.')) load(join(dirname(file), from));
      else packages.add(from);
    }
  }
}

/** Whether a position in a file of the package leads to the line of the source. */
export function checkSourceMaps() {
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
  for (const { name, source } of [
    { name: 'EntryLeases', source: 'src/sessions/coordination/entry-leases.ts' },
    { name: 'InvalidInputError', source: 'src/sessions/domain/errors/errors.ts' },
    { name: 'SessionsClient', source: 'src/client/sessions-client.ts' },
  ]) {
    // Which chunk has it depends on what shares it.
    const file = files.find((one) => readFileSync(join(dist, one), 'utf8').includes(`class ${name} `));
    assert.ok(file, `no file has ${name}`);
    const lines = readFileSync(join(dist, file), 'utf8').split('\n');
    const line = lines.findIndex((code) => code.includes(`class ${name} `));
    const map = new SourceMap(JSON.parse(readFileSync(join(dist, `${file}.map`), 'utf8')));
    const { originalSource, originalLine } = map.findEntry(line, lines[line].indexOf(name));
    assert.ok(originalSource?.endsWith(source), `${name} in ${file} leads to ${originalSource}`);
    const original = readFileSync(join(dist, '..', source), 'utf8').split('\n');
    assert.ok(
      original[originalLine].includes(`class ${name} `),
      `${source}:${originalLine + 1} does not declare ${name}`,
    );
  }
}
