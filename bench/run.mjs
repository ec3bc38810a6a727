import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describeMachine } from './support/machine.mjs';
import { printMachine, printTable } from './support/report.mjs';

const BENCHMARKS = [
  'minimum',
  'growth',
  'processes',
  'walk',
  'parallel',
  'reads',
  'create',
  'footprint',
  'rest',
  'servers',
  'summaries',
  'many',
  'turns',
  'streams',
  'transfer',
  'inspector',
  'encryption',
  'peers',
];

/** Other session stores, in processes of their own: it prints its own table. */
const PEERS = 'peers';

const { names, isJson, selection } = wanted(process.argv.slice(2));
const machine = describeMachine();
if (!isJson) printMachine(machine);

const results = {};
for (const name of names) {
  if (name === PEERS) {
    if (!isJson)
      spawnSync(process.execPath, [fileURLToPath(new URL('peers/run.mjs', import.meta.url))], { stdio: 'inherit' });
    continue;
  }
  const { title, run } = await import(`./${name}.mjs`);
  const rows = await run(selection);
  results[name] = { title, rows };
  if (!isJson && rows.length > 0) printTable(title, rows);
}
if (isJson) console.log(JSON.stringify({ machine, results }, null, 2));

/** All benchmarks unless some are named; `--json` prints one object in the end instead of tables. */
function wanted(args) {
  const named = args.filter((arg) => !arg.startsWith('--'));
  const unknown = [
    ...named.filter((name) => !BENCHMARKS.includes(name)),
    ...args.filter((arg) => arg.startsWith('--') && arg !== '--json' && !/^--(only|stores)=./.test(arg)),
  ];
  if (unknown.length > 0) {
    console.error(
      `Unknown: ${unknown.join(', ')}. Give any of ${BENCHMARKS.join(', ')}, and --json, --only=<rows> or --stores=<stores>.`,
    );
    process.exit(2);
  }
  const [only, stores] = [listOf(args, '--only='), listOf(args, '--stores=')];
  const isSelecting = only !== undefined || stores !== undefined;
  const all = isSelecting ? ['minimum'] : BENCHMARKS;
  return { names: named.length > 0 ? named : all, isJson: args.includes('--json'), selection: { only, stores } };
}

function listOf(args, option) {
  return args
    .find((arg) => arg.startsWith(option))
    ?.slice(option.length)
    .split(',');
}
