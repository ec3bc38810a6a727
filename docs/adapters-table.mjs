// Writes the table of adapters and the suites that judge them into test/adapters/README.md.
// npm run docs:adapters               runs the suites with the installed versions first
// npm run docs:adapters -- --oldest   runs them with the oldest versions of the frameworks that package.json allows
// npm run docs:adapters -- --next     runs those of the frameworks whose newest major is not installed here
// npm run docs:adapters -- --table    only writes the table, from the results of before
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BEGIN = '<!-- suites: written by `npm run docs:adapters` -->';
const END = '<!-- end of suites -->';
const PAGES = [{ file: 'test/adapters/README.md', links: '../../docs/adapters/' }];
const RESULTS = {
  newest: 'test/adapters/results.ndjson',
  oldest: 'test/adapters/results-oldest.ndjson',
  next: 'test/adapters/results-next.ndjson',
};

/** Newest majors that are not installed here, with what goes with them, and the tests that judge them. The AI SDK needs Node 22. */
const NEXT = {
  packages: [
    'node@22',
    'ai@7',
    '@ai-sdk/react@4',
    '@ai-sdk/provider@4',
    '@modelcontextprotocol/server@2',
    '@modelcontextprotocol/client@2',
    '@modelcontextprotocol/node@2',
  ],
  node: 'node_modules/node/bin/node',
  // With --legacy-peer-deps, npm leaves out what is only a peer of this package.
  peers: '--force',
  tests: ['test/adapters/ai-sdk', 'test/adapters/next', '--testMatch=**/*.spec.ts', '--testMatch=**/*.next.ts'],
};

/** The page of each framework, below docs/adapters. */
const FRAMEWORKS = {
  'Google ADK': 'adk',
  'OpenAI Agents': 'openai-agents',
  LangGraph: 'langgraph',
  'AI SDK': 'ai-sdk',
  'AG-UI': 'ag-ui',
  'Claude Agent SDK': 'claude-agent',
  MCP: 'mcp',
  A2A: 'a2a',
};

const STORES = {
  memory: 'memory',
  sqlite: 'SQLite',
  redis: 'Redis',
  'redis-cluster': 'Redis Cluster',
  mariadb: 'MariaDB',
  postgres: 'PostgreSQL',
};

/** The cell of a suite that does not run on a store. */
const NOT_RUN = '–';

/** The pages as they are, and as they should be. */
export function adapterPages() {
  const table = tableOf(Object.values(RESULTS).flatMap(readResults));
  return PAGES.map(({ file, links }) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    return { file, text, expected: withTable(file, text, table(links)) };
  });
}

function readResults(file) {
  const path = join(ROOT, file);
  return existsSync(path) ? linesOf(readFileSync(path, 'utf8')).map((line) => JSON.parse(line)) : [];
}

function linesOf(text) {
  return text.split('\n').filter((line) => line !== '');
}

/** A row for each suite of a framework. Versions with the same results share it. */
function tableOf(results) {
  const frameworks = Object.keys(FRAMEWORKS);
  const versions = [...grouped(results, versionOf).values()].sort(([a], [b]) =>
    b.version.localeCompare(a.version, 'en', { numeric: true }),
  );
  const rows = [...grouped(versions, (runs) => rowOf(runs[0]) + outcomeOf(runs)).values()].sort(
    ([[a]], [[b]]) =>
      frameworks.indexOf(a.framework) - frameworks.indexOf(b.framework) || a.suite.localeCompare(b.suite),
  );
  return (links) =>
    ['| framework | suite | versions | tests |', '|---|---|---|---|', ...rows.map((row) => lineOf(row, links))].join(
      '\n',
    );
}

function grouped(items, keyOf) {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function rowOf({ framework, suite }) {
  return JSON.stringify([framework, suite]);
}

function versionOf({ framework, suite, peer, version }) {
  return JSON.stringify([framework, suite, peer, version]);
}

function lineOf(row, links) {
  const [[{ framework, suite }]] = row;
  const page = FRAMEWORKS[framework];
  if (page === undefined) throw new Error(`docs/adapters-table.mjs has no page for the framework ${framework}: add it`);
  const peers = [...grouped(row, ([{ peer }]) => peer)];
  const versions = peers.map(([peer, of]) => `\`${peer}\` ${of.map(([{ version }]) => version).join(', ')}`).join('; ');
  return `| [${framework}](${links}${page}.md) | ${suite} | ${versions} | ${outcomeOf(row[0])} |`;
}

/** What passed, in a few words if it is the same on all stores that the suite runs on. */
function outcomeOf(runs) {
  const cells = Object.keys(STORES).map((name) => cellOf(runs.find(({ store }) => store === name)));
  const shown = [...new Set(cells)].filter((cell) => cell !== NOT_RUN);
  const names = Object.values(STORES);
  if (shown.length > 1) return cells.map((cell, index) => `${names[index]} ${cell}`).join('; ');
  const missing = names.filter((_, index) => cells[index] === NOT_RUN);
  return missing.length === 0 ? shown[0] : `${shown[0]}, not on ${missing.join(', ')}`;
}

/** How many tests passed. */
function cellOf(result) {
  if (result === undefined) return NOT_RUN;
  const { passed, failed } = result;
  return failed === 0 ? `${passed}` : `${passed}, ${failed} failed`;
}

function withTable(file, text, table) {
  const [before, rest] = text.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`${file} has lost its markers, ${BEGIN} and ${END}`);
  return `${before}${BEGIN}\n\n${table}\n\n${END}${after}`;
}

/** Runs suites of adapters in a folder, and keeps what came out. */
function judge(folder, file, { node = process.execPath, tests = ['test/adapters'] } = {}) {
  const scratch = mkdtempSync(join(tmpdir(), 'agent-sessions-suites-'));
  const collected = join(scratch, 'results.ndjson');
  try {
    writeFileSync(collected, '');
    const env = { ...process.env, ADAPTER_RESULTS: collected, ROUNDS: 'full' };
    execFileSync(node, ['node_modules/jest/bin/jest.js', ...tests], {
      cwd: folder,
      env,
      stdio: 'inherit',
    });
    const lines = linesOf(readFileSync(collected, 'utf8')).sort();
    writeFileSync(join(ROOT, file), `${lines.join('\n')}\n`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The same with other packages, in a copy of this folder. */
function judgeWith(packages, file, { node, tests, peers = '--legacy-peer-deps' } = {}) {
  const scratch = mkdtempSync(join(tmpdir(), 'agent-sessions-suites-'));
  try {
    const left = new Set(['.git', 'dist', 'coverage']);
    for (const name of readdirSync(ROOT).filter((each) => !left.has(each))) {
      cpSync(join(ROOT, name), join(scratch, name), { recursive: true, verbatimSymlinks: true });
    }
    console.error(`Runs the suites with ${packages.join(', ')}`);
    execFileSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', peers, ...packages], {
      cwd: scratch,
      stdio: 'inherit',
    });
    judge(scratch, file, { node: node && join(scratch, node), tests });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Peers that the sources of the adapters import, in the lowest version of their range. */
export function oldestPeers() {
  const { peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const folder = join(ROOT, 'src/adapters');
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'));
  return Object.entries(peerDependencies)
    .filter(([name]) => !name.startsWith('@nestjs/') && name !== 'rxjs')
    .filter(([name]) => sources.some((source) => source.includes(`'${name}'`) || source.includes(`'${name}/`)))
    .map(([name, range]) => `${name}@${/\d+\.\d+\.\d+/.exec(range)?.[0]}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = new Set(process.argv.slice(2));
  if (options.has('--oldest')) judgeWith(oldestPeers(), RESULTS.oldest);
  else if (options.has('--next')) judgeWith(NEXT.packages, RESULTS.next, NEXT);
  else if (!options.has('--table')) judge(ROOT, RESULTS.newest);
  for (const { file, expected } of adapterPages()) writeFileSync(join(ROOT, file), expected);
}
