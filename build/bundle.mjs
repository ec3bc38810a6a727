// Puts the modules that were compiled into `dist` together into few files: each one that Node opens takes time, and an app loads hundreds.
// Entries keep their names. What several entries share is in `dist/chunks`.
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));
const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** The app, what scripts of this repository load, and what the Nest CLI loads. */
const OWN = [
  'main',
  'cli/run-cli',
  'config/app.config',
  'config/sessions-environment',
  'config/summarizer-settings',
  'schematics/nest-add',
];

/**
 * Chunks with what all these modules load, unless a chunk before has it. The client runs in browsers, so what others share with it loads no
 * package; the root loads none that is optional.
 */
const SHARED = {
  basics: ['client/index', 'index'],
  core: ['index'],
  transport: ['sessions/rest/index', 'sessions/graphql/index'],
};

/** Small modules of which each would be a file, and the chunk that all who load them load, too. */
const ADDED = { 'sessions/transport/served-page': 'transport' };

/** Smaller chunks become part of another one that is loaded with them, where that is possible. */
const LEAST_CHUNK = 20_000;

/** The mappings of a map that leads to no source. */
const NO_MAPPINGS = /^;*$/;

/** `this` of helpers that TypeScript writes, the types of `main`, and types that an entry uses without a name of their own. */
const EXPECTED = /^(THIS_IS_UNDEFINED|EMPTY_BUNDLE)$|no public re-export/;

const published = Object.values(manifest.exports).flatMap(({ default: file = [] }) => file);
const entries = [...new Set([...published, ...Object.values(manifest.bin)])].map(nameOfEntry);
const optional = new Set(Object.keys(manifest.peerDependenciesMeta));

const codeFiles = await bundled('.js', [...new Set([...entries, ...OWN])], {
  plugins: [compiledSources()],
  sourcemap: true,
  leastChunk: LEAST_CHUNK,
  chunkOf: chunkOfCode,
});
const typeFiles = await bundled('.d.ts', entries, { plugins: [dts()], leastChunk: 1, chunkOf: chunkOfTypes });
await rm(dist, { recursive: true });
for (const { fileName, code, source } of [...codeFiles.flatMap(withoutEmptyMap), ...typeFiles]) {
  const file = join(dist, fileName);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, code ?? source);
}

async function bundled(ending, names, { plugins, sourcemap = false, leastChunk, chunkOf }) {
  const fileOf = (name) => join(dist, `${name}${ending}`);
  const bundle = await rollup({
    input: Object.fromEntries(names.map((name) => [name, fileOf(name)])),
    external: (id) => !/^[./]/.test(id),
    plugins,
    onLog(level, { code: kind, message }) {
      if (level === 'warn' && !EXPECTED.test(kind) && !EXPECTED.test(message)) throw new Error(message);
    },
  });
  const isEntry = new Set(names.map(fileOf));
  let chunks;
  const { output } = await bundle.generate({
    format: 'esm',
    sourcemap,
    sourcemapExcludeSources: true,
    entryFileNames: `[name]${ending}`,
    chunkFileNames: (chunk) => `chunks/${nameOfChunk(chunk)}${ending}`,
    minifyInternalExports: false,
    hoistTransitiveImports: false,
    experimentalMinChunkSize: leastChunk,
    manualChunks(id, { getModuleInfo }) {
      chunks ??= chunkOf((module) => loadedBy(module, getModuleInfo), fileOf);
      return isEntry.has(id) ? undefined : chunks(id);
    },
  });
  await bundle.close();
  return output;
}

function chunkOfCode(loaded, fileOf) {
  const shared = Object.entries(SHARED).map(([name, of]) => {
    const [first, ...others] = of.map((module) => loaded(fileOf(module)));
    return { name, modules: new Set([...first].filter((id) => others.every((other) => other.has(id)))) };
  });
  const added = new Map(Object.entries(ADDED).map(([module, name]) => [fileOf(module), name]));
  return (id) => added.get(id) ?? shared.find(({ modules }) => modules.has(id))?.name;
}

/** Types that need no optional package are one file, which a compiler reads faster than many. Those of the client need none at all. */
function chunkOfTypes(loaded, fileOf) {
  const ofClient = loaded(fileOf('client/index'));
  return (id) => {
    if (ofClient.has(id)) return 'basics';
    return [...loaded(id)].some((module) => optional.has(packageOf(module))) ? undefined : 'core';
  };
}

/** An entry that only hands on what chunks have leads to no source: its map is left out. */
function withoutEmptyMap(file) {
  if (NO_MAPPINGS.test(file.map?.mappings ?? 'none'))
    return { ...file, code: file.code.replace(/\/\/# sourceMappingURL=.*\s*$/, '') };
  const isEmpty = file.fileName.endsWith('.map') && NO_MAPPINGS.test(JSON.parse(file.source).mappings);
  return isEmpty ? [] : file;
}

function nameOfEntry(file) {
  return file.slice('./dist/'.length, -'.js'.length);
}

/** Rollup names a chunk after its last module. */
function nameOfChunk({ name, moduleIds }) {
  const plain = name.replace(/\.d$/, '');
  return plain === 'index' ? basename(dirname(moduleIds.at(-1))) : plain;
}

/** All modules and packages that a module loads. */
function loadedBy(id, getModuleInfo, found = new Set()) {
  if (found.has(id)) return found;
  found.add(id);
  for (const imported of getModuleInfo(id).importedIds) loadedBy(imported, getModuleInfo, found);
  return found;
}

function packageOf(id) {
  return /^(@[^/]+\/)?[^/]+/.exec(id)?.[0];
}

/** Modules with the maps of the compiler, so that a position leads to the source. */
function compiledSources() {
  return {
    name: 'compiled-sources',
    async load(id) {
      const [compiled, map] = await Promise.all([readFile(id, 'utf8'), readFile(`${id}.map`, 'utf8')]);
      return { code: compiled.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'), map: JSON.parse(map) };
    },
  };
}
