// Writes docs/benchmarks.md and its charts from the figures in bench/results. It measures nothing.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { barChart, lineChart } from './charts.mjs';
import { missedTargets } from './targets.mjs';

const CHARTS = new URL('../docs/images/benchmarks/', import.meta.url);
const OURS = 'this package';
const STORES = { memory: 'memory', sqlite: 'SQLite', redis: 'Redis', mariadb: 'MariaDB', postgres: 'PostgreSQL' };
/** What figures depend on most. `bench/results` has the rest. */
const SHOWN = ['cpu', 'memory', 'node', 'libsql', 'fdatasync'];
const whole = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });

const peers = read('peers');
const minimum = read('minimum');
mkdirSync(CHARTS, { recursive: true });

const page = [
  '# Benchmarks',
  '',
  `Measured on: ${machineOf(minimum.machine).join('; ')}. \`npm run bench:page\` measures again, and writes this page.`,
  '',
  '## Beside the least that a driver can do',
  '',
  'The minimum appends an event of 1,030 bytes and changes state, prepared, with no check, no duplicate, no order and no expiry. In SQL it is',
  '`START TRANSACTION`, `INSERT`, `UPDATE`, `COMMIT`, in Redis one script, in memory a `Map`.',
  '',
  'Operations per second of the package, and the ratio to the minimum in the same run. `*` misses our target: [bench/targets.mjs](../bench/targets.mjs)',
  'has the targets, and says where the time goes and what was tried.',
  '',
  ...table(['', ...Object.values(STORES)], operations().map(operationCells)),
  '',
  `Over HTTP, an append: ${minimum.results.minimum.rows.filter(isOfHttp).map(httpFigure).join(', ')}.`,
  '',
  '## Beside other stores',
  '',
  'One workload, each in a process of its own. They do not do the same work: `@openai/agents` and `@langchain/redis` keep',
  'messages without state; a LangGraph checkpoint is a whole state. `–`: not within 15 seconds, or the store has nothing like it.',
  '',
  ...table(
    ['store', 'package', 'append, event 1', 'event 1,000', 'event 10,000', 'newest 20'],
    peers.rows.map(({ store, label, version, failed, growth }) =>
      failed
        ? [STORES[store], `${label} ${version}`, `failed: ${failed}`, '', '', '']
        : [
            STORES[store],
            `${label} ${version}`,
            rateOf(growth.rates?.[0]),
            rateOf(growth.rates?.[900]),
            rateOf(growth.rates?.[9_900]),
            rateOf(growth.newest),
          ],
    ),
  ),
  '',
  'A rate that falls as the session grows shows a store that reads or copies the whole session at each append.',
  '',
  ...['memory', 'mariadb', 'postgres'].map((store) => chart(`growth-${store}`, growthChart(store))),
  '',
  '## Two writers beside each other',
  '',
  'Two instances append 500 events each to one session, and set 200 `user:` keys each through two sessions of one user. `–`: it failed, or has no such keys.',
  '',
  ...table(
    ['store', 'package', 'events acknowledged', 'of them lost', '`user:` keys acknowledged', 'of them lost'],
    writerRows(),
  ),
  '',
  chart('parallel', parallelChart()),
  chart('lost', lostChart()),
  '',
];
writeFileSync(new URL('../docs/benchmarks.md', import.meta.url), page.join('\n'));

function read(name) {
  return JSON.parse(readFileSync(new URL(`results/${name}.json`, import.meta.url), 'utf8'));
}

function isOfHttp({ what }) {
  return /^(Express|Fastify), /.test(what);
}

function httpFigure(row) {
  return `${row.what.split(',')[0]} ${figureOf(row)}`;
}

/** What was measured of each store, without its name. */
function operations() {
  const ofMemory = minimum.results.minimum.rows.filter(
    ({ what, unit }) => what.startsWith('memory, ') && unit !== 'MB' && unit !== 'bytes',
  );
  return ofMemory.map(({ what }) => what.replace('memory, ', ''));
}

function operationCells(operation) {
  const figures = Object.keys(STORES).map((store) => {
    const row = minimum.results.minimum.rows.find(({ what }) => what === `${store}, ${operation}`);
    return row ? figureOf(row) : '–';
  });
  return [operation, ...figures];
}

function figureOf(row) {
  const isMissed = missedTargets([row]).length > 0;
  return `${whole.format(row.ours)} (${row.ratio.toFixed(2)}${isMissed ? ' *' : ''})`;
}

function machineOf(machine) {
  return SHOWN.map((name) => `${name} ${machine[name]}`);
}

function table(heads, rows) {
  const rule = heads.map((_, column) => (column < 2 ? '---' : '--:'));
  return [heads, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

function rateOf(rate) {
  return rate === undefined ? '–' : whole.format(rate);
}

function countsOf(writers) {
  if (writers === undefined || writers.failed) return ['–', '–'];
  return [writers.acknowledged, writers.lost].map(String);
}

/** What two writers lost. Stores of a package with the same figures share a row. */
function writerRows() {
  const stores = new Map();
  for (const { store, label, oneSession, oneUser } of peers.rows) {
    if (!oneSession) continue;
    const cells = [label, ...countsOf(oneSession), ...countsOf(oneUser)];
    const key = JSON.stringify(cells);
    stores.set(key, [...(stores.get(key) ?? []), STORES[store]]);
  }
  return Array.from(stores, ([key, names]) => [names.join(', '), ...JSON.parse(key)]);
}

/** Writes the chart and answers the line that shows it. */
function chart(name, { svg, alt }) {
  writeFileSync(new URL(`${name}.svg`, CHARTS), svg);
  return `![${alt}](images/benchmarks/${name}.svg)\n`;
}

function growthChart(store) {
  const title = `Appends per second as a session grows, ${STORES[store]}`;
  const lines = peers.rows
    .filter((row) => row.store === store && row.growth?.rates)
    .map(({ label, growth }) => ({
      label,
      points: Object.entries(growth.rates).map(([event, rate]) => [Number(event), rate]),
    }));
  return {
    alt: title,
    svg: lineChart({ title, xTitle: 'events in the session', yTitle: 'appends per second, logarithmic', lines }),
  };
}

function parallelChart() {
  const title = 'Appends per second to 64 sessions at once';
  const bars = peers.rows
    .filter(({ store, parallel }) => store !== 'memory' && parallel?.rate)
    .map(({ store, label, parallel }) => ({
      label: `${STORES[store]}, ${label.replace('@langchain/langgraph-checkpoint', 'LangGraph')}`,
      value: parallel.rate,
      text: whole.format(parallel.rate),
      isOurs: label === OURS,
    }));
  return { alt: title, svg: barChart({ title, bars }) };
}

function lostChart() {
  const title = 'Acknowledged writes that two writers lose, in per cent';
  const bars = peers.rows
    .filter(({ oneSession }) => oneSession && !oneSession.failed)
    .map(({ store, label, oneSession, oneUser }) => {
      const all = [oneSession, oneUser].filter((writers) => writers && !writers.failed);
      const value = Math.max(...all.map(({ lost, acknowledged }) => (100 * lost) / Math.max(acknowledged, 1)));
      return {
        label: `${STORES[store]}, ${label.replace('@langchain/langgraph-checkpoint', 'LangGraph')}`,
        value,
        text: `${Math.round(value)} %`,
        isOurs: label === OURS,
      };
    });
  return { alt: title, svg: barChart({ title, bars }) };
}
