import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const { scripts } = JSON.parse(readFileSync(resolve('package.json'), 'utf8')) as { scripts: Record<string, string> };

/** In place of Nest's: it empties `dist`, does what is in `during.mjs`, and then writes. */
const NEST = `#!/usr/bin/env node
const { appendFileSync, existsSync, mkdirSync, rmSync, writeFileSync } = require('node:fs');
appendFileSync('builds', '.');
rmSync('dist', { recursive: true, force: true });
const during = existsSync('during.mjs') ? import(process.cwd() + '/during.mjs') : Promise.resolve();
void during.then(() => {
  mkdirSync('dist');
  for (const name of ['main.js', 'index.d.ts']) writeFileSync('dist/' + name, '');
});
`;

/** In place of the build of the page. */
const PAGE = `
import { mkdirSync, writeFileSync } from 'node:fs';
mkdirSync('dist/inspector/page', { recursive: true });
writeFileSync('dist/inspector/page/names.json', '');
`;

/** Saves a source, and waits until files get a later time than it has. */
const SAVING = `
import { statSync, writeFileSync } from 'node:fs';
writeFileSync('src/main.ts', 'saved meanwhile');
do writeFileSync('clock', ''); while (statSync('clock').mtimeMs <= statSync('src/main.ts').mtimeMs);
`;

/** Each test ends with a build of the sources as they are. */
describe('the build before the tests', () => {
  const root = mkdtempSync(join(tmpdir(), 'agent-sessions-build-'));

  beforeAll(() => {
    write('package.json', JSON.stringify({ scripts }));
    write('src/main.ts', 'old');
    write('src/deep/other.ts', 'old');
    write('node_modules/.bin/nest', NEST, 0o755);
    write('build/bundle.mjs', '');
    write('inspector/build.mjs', PAGE);
    write('inspector/src/main.tsx', 'old');
    const script = 'test/support/build-stamp.mjs';
    write(script, readFileSync(resolve(script), 'utf8'));
    run('build');
  });

  afterAll(() => rmSync(root, { recursive: true }));
  afterEach(() => rmSync(join(root, 'during.mjs'), { force: true }));

  function write(path: string, text: string, mode = 0o644): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { mode });
  }

  function run(script: string): void {
    execFileSync('npm', ['run', script], { cwd: root, stdio: 'pipe' });
  }

  /** How many builds it takes until the tests can begin. */
  function buildsBefore(): number {
    rmSync(join(root, 'builds'), { force: true });
    run('pretest');
    return existsSync(join(root, 'builds')) ? readFileSync(join(root, 'builds'), 'utf8').length : 0;
  }

  it('is left out if the last one was of the same sources', () => {
    expect(buildsBefore()).toBe(0);
  });

  it.each<[what: string, change: () => void]>([
    ['was saved', () => write('src/main.ts', 'new')],
    ['of the page was saved', () => write('inspector/src/main.tsx', 'new')],
    ['was added', () => write('src/deep/new.ts', '')],
    ['was removed', () => rmSync(join(root, 'src/deep/new.ts'))],
    ['has another name', () => renameSync(join(root, 'src/deep/other.ts'), join(root, 'src/deep/renamed.ts'))],
    ['was replaced by an older one', () => writeOld('src/main.ts')],
    ['of the settings was saved', () => write('tsconfig.json', '{}')],
  ])('is made if a file %s', (_what, change) => {
    change();
    expect(buildsBefore()).toBe(1);
  });

  it('is made if a source was saved while the last one ran, and then left out', () => {
    write('during.mjs', SAVING);
    run('build');
    rmSync(join(root, 'during.mjs'));
    expect(buildsBefore()).toBe(1);
    expect(buildsBefore()).toBe(0);
  });

  it('is made if the last one failed, even if it wrote all its files', () => {
    write('during.mjs', 'process.exitCode = 1;');
    expect(() => run('build')).toThrow('Command failed');
    expect(existsSync(join(root, 'dist/main.js'))).toBe(true);
    rmSync(join(root, 'during.mjs'));
    expect(buildsBefore()).toBe(1);
  });

  it('is made if the last one was not that of `npm run build`, such as that of `start:dev`', () => {
    execFileSync(join(root, 'node_modules/.bin/nest'), { cwd: root });
    expect(buildsBefore()).toBe(1);
  });

  function writeOld(path: string): void {
    write(path, 'from elsewhere');
    utimesSync(join(root, path), 1, 1);
  }
});
