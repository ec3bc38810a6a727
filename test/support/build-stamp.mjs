// node test/support/build-stamp.mjs           exits with 0 if `dist` was built from the sources as they are
// node test/support/build-stamp.mjs --write   notes that it was built now
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const STAMP = 'node_modules/.cache/agent-sessions-build';
const SETTINGS = ['package.json', 'package-lock.json', 'nest-cli.json', 'tsconfig.json', 'tsconfig.build.json'];

if (process.argv.includes('--write')) {
  mkdirSync(join(ROOT, STAMP, '..'), { recursive: true });
  writeFileSync(join(ROOT, STAMP), '');
} else {
  process.exitCode = isBuilt() ? 0 : 1;
}

function isBuilt() {
  const built = Math.min(...[STAMP, 'dist/main.js', 'dist/index.d.ts'].map((path) => changedAt(path) ?? 0));
  // A folder changes when a file in it is added or removed.
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).map((path) =>
    join('src', path),
  );
  return ['src', ...sources, ...SETTINGS].every((path) => (changedAt(path) ?? 0) < built);
}

function changedAt(path) {
  return statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs;
}
