// Measures this package beside other session stores. `--write` keeps the figures in bench/results/peers.json.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describeMachine } from '../support/machine.mjs';
import { ROWS } from './rows.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const RESULTS = new URL('../results/', import.meta.url);
const TIME_LIMIT_MS = 300_000;

installPeers();
const args = process.argv.slice(2);
const stores = listOf('--stores=');
const labels = listOf('--only=');
const rows = [];
for (const [index, row] of ROWS.entries()) {
  if (stores && !stores.includes(row.store)) continue;
  if (labels && !labels.includes(row.label)) continue;
  rows.push({ ...about(row), ...measured(index) });
  console.error(`${row.label} in ${row.store} is done`);
}
console.table(rows.map(lineOf));
if (args.includes('--write')) write({ machine: describeMachine(), rows });

function listOf(option) {
  return args
    .find((arg) => arg.startsWith(option))
    ?.slice(option.length)
    .split(',');
}

/** The other stores are packages of this folder only, so that nobody installs them by accident. */
function installPeers() {
  if (existsSync(`${HERE}node_modules`)) return;
  console.error('Installs the other stores in bench/peers, which takes some minutes');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent'], { cwd: HERE, stdio: 'inherit' });
}

function about({ label, store }) {
  return { label, store, version: versionOf(label) };
}

function versionOf(label) {
  const folder = label === 'this package' ? '../..' : `node_modules/${label}`;
  return JSON.parse(readFileSync(`${HERE}${folder}/package.json`, 'utf8')).version;
}

/** In a process of its own, so that no store suffers from the garbage of another one. */
function measured(index) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [`${HERE}one-row.mjs`, String(index)], {
    encoding: 'utf8',
    timeout: TIME_LIMIT_MS,
  });
  if (status !== 0) return { failed: stderr.trim().split('\n').at(-1)?.slice(0, 200) || 'it took too long' };
  return JSON.parse(stdout.trim().split('\n').at(-1));
}

function lineOf({ label, store, failed, growth, parallel, whole, oneSession, oneUser }) {
  const line = { store, label };
  if (failed) return { ...line, failed };
  return {
    ...line,
    'append, event 0': rounded(growth.rates?.[0]),
    'event 900': rounded(growth.rates?.[900]),
    'event 9,900': rounded(growth.rates?.[9_900]),
    '64 in flight': rounded(parallel.rate),
    'newest 20': rounded(growth.newest),
    'whole 1,000': rounded(whole.rate),
    'events lost': shareOf(oneSession),
    'user: keys lost': shareOf(oneUser),
  };
}

function rounded(rate) {
  return rate === undefined ? '–' : Number(rate.toPrecision(3));
}

function shareOf(writers) {
  if (writers === undefined) return '–';
  return writers.failed ?? `${writers.lost} of ${writers.acknowledged}`;
}

function write(results) {
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(new URL('peers.json', RESULTS), `${JSON.stringify(results, undefined, 2)}\n`);
}
