// node test/support/build-stamp.mjs             exits with 0 if `dist` was built from the sources as they are
// node test/support/build-stamp.mjs nest build  runs this build, and notes in `dist` which sources it began with
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
// Another build empties `dist`, and so removes it.
const STAMP = join(ROOT, 'dist/.build-stamp');
const BUILT = ['dist/main.js', 'dist/index.d.ts', 'dist/inspector/page/names.json'];
const SOURCES = ['src', 'inspector', 'build'];
const SETTINGS = ['package.json', 'package-lock.json', 'nest-cli.json', 'tsconfig.json', 'tsconfig.build.json'];

const command = process.argv.slice(2).join(' ');
process.exitCode = command === '' ? Number(!isBuilt()) : build();

/** What is saved while the build runs may be in it or not, so only the sources that it began with count. */
function build() {
  const sources = fingerprint();
  rmSync(STAMP, { force: true });
  const { status } = spawnSync(command, { cwd: ROOT, shell: true, stdio: 'inherit' });
  if (status === 0) writeFileSync(STAMP, sources);
  return status ?? 1;
}

function isBuilt() {
  try {
    return BUILT.every((path) => stateOf(path) !== undefined) && readFileSync(STAMP, 'utf8') === fingerprint();
  } catch {
    return false;
  }
}

/** Changes with each file that is saved, added, removed or replaced, also by an older one. */
function fingerprint() {
  const sources = SOURCES.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  );
  return [...sources.toSorted(), ...SETTINGS].map((path) => `${path} ${stateOf(path)}\n`).join('');
}

function stateOf(path) {
  const found = statSync(join(ROOT, path), { throwIfNoEntry: false });
  return found && `${found.mtimeMs} ${found.size}`;
}
