import { closeSync, fdatasyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { cpus, loadavg, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';

const SYNCS = 200;

/** What the figures depend on besides the code. */
export function describeMachine() {
  return {
    cpu: `${cpus()[0]?.model.trim()} x ${cpus().length}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `${process.platform} ${release()}`,
    node: process.versions.node,
    typeorm: versionOf('typeorm'),
    libsql: `${versionOf('libsql')} (SQLite ${sqliteVersion()})`,
    fdatasync: `${fsyncMilliseconds().toFixed(3)} ms for 1 KB appended, the median of ${SYNCS}`,
    load: `${loadavg()[0].toFixed(1)} in the minute before`,
    scale: process.env.BENCH_SCALE ?? '1',
  };
}

function versionOf(name) {
  // By path, since not every package exports its package.json.
  return JSON.parse(readFileSync(new URL(`../../node_modules/${name}/package.json`, import.meta.url), 'utf8')).version;
}

function sqliteVersion() {
  const database = new Database(':memory:');
  const [{ version }] = database.prepare('SELECT sqlite_version() AS version').all();
  database.close();
  return version;
}

/** What one wait for the disk costs: the floor of every durable write that is not shared. */
function fsyncMilliseconds() {
  const directory = mkdtempSync(join(tmpdir(), 'sessions-bench-'));
  const file = openSync(join(directory, 'sync'), 'w');
  const block = Buffer.alloc(1024, 'x');
  const times = [];
  for (let count = 0; count < SYNCS; count++) {
    const start = performance.now();
    writeSync(file, block);
    fdatasyncSync(file);
    times.push(performance.now() - start);
  }
  closeSync(file);
  rmSync(directory, { recursive: true });
  return times.sort((a, b) => a - b)[SYNCS >> 1];
}
