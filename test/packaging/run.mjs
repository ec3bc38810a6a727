// Proves the package as users get it: packed, installed into apps of their own, run and compiled there.
// `--quick` takes the newest Nest, the Node that runs this, and the TypeScript of this repository.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { checkCommandLine, checkCommandLineWithoutPeers } from './command-line.mjs';
import { contractOf } from './contract-stores.mjs';
import { addSessions, buildAndStart, freshApp, runInstall, testWithJest } from './docs/fresh-app.mjs';
import { commandsFor } from './docs/install-commands.mjs';
import { mixtures, nest11, nest12, oldestPeers, withoutPeers } from './package-sets.mjs';
import { runCommand } from './run-command.mjs';
import { install, installApp, installInto, pack } from './scratch.mjs';
import { checkLoaded, checkSourceMaps, checkTarball } from './tarball.mjs';
import { checkOwnTypes, checkTypes, waysOf } from './type-checks.mjs';

const NODES = [20, 22, 24];
const CURRENT_NODE = Number.parseInt(process.versions.node, 10);
/** The oldest that works, the last of the fives, and the newest. */
const TYPESCRIPTS = ['5.0', '5.9', 'latest'];
const LOADERS = { 'ES modules': 'esm.mjs', CommonJS: 'commonjs.cjs' };
const RUN_LIMIT_MS = 60_000;

const isQuick = process.argv.includes('--quick');
/** `--only=Oldest` runs what has this in its name. */
const only = process.argv.find((argument) => argument.startsWith('--only='))?.slice('--only='.length);
const isChosen = (name) => only === undefined || name.includes(only);
const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const counts = { passed: 0, failed: 0 };

async function check(name, work) {
  const startedAt = performance.now();
  let result;
  let problem;
  try {
    result = await work();
  } catch (error) {
    problem = String(error);
  }
  counts[problem === undefined ? 'passed' : 'failed']++;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${problem === undefined ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
  if (problem !== undefined) console.log(problem.replaceAll(/^/gm, '       '));
  return result;
}

async function nodes() {
  const current = { name: `Node ${process.versions.node}`, binary: process.execPath };
  if (isQuick) return [current];
  const others = NODES.filter((major) => major !== CURRENT_NODE).map(async (major) => {
    const folder = await install(`node-${major}`, [`node@${major}`]);
    const binary = join(folder, 'node_modules/.bin/node');
    const version = await runCommand(binary, ['-p', 'process.versions.node'], { cwd: folder });
    return { name: `Node ${version.trim()}`, binary };
  });
  return [current, ...(await Promise.all(others))];
}

async function typeScripts() {
  const own = createRequire(import.meta.url).resolve('typescript/package.json');
  const installed = isQuick ? [] : TYPESCRIPTS.map((version) => installTypeScript(version));
  return [own, ...(await Promise.all(installed))].map((file) => {
    const { version } = JSON.parse(readFileSync(file, 'utf8'));
    return { name: `TypeScript ${version}`, version: Number.parseFloat(version), tsc: join(file, '../bin/tsc') };
  });
}

async function installTypeScript(version) {
  const folder = await install(`typescript-${version}`, [`typescript@${version}`]);
  return join(folder, 'node_modules/typescript/package.json');
}

async function checkRuns(app, folder, program, binaries) {
  for (const { name, binary } of binaries) {
    for (const [modules, loader] of Object.entries(LOADERS)) {
      const run = () => runCommand(binary, [loader, `./${program}.cjs`], { cwd: folder, limitMs: RUN_LIMIT_MS });
      await check(`${app}, ${modules}, ${name}`, async () => {
        const said = await run();
        if (said !== '') throw new Error(`It was to say nothing, yet said:\n${said}`);
      });
    }
  }
}

async function checkCompiling(app, folder, program, compilers) {
  for (const { name, version, tsc } of compilers) {
    for (const way of waysOf(version).filter(({ moduleResolution }) => !isQuick || moduleResolution === 'nodenext')) {
      await check(`${app}, types, ${way.name}, ${name}`, () => checkTypes(folder, program, tsc, way));
    }
  }
}

/**
 * Each adapter where its framework takes it, by the TypeScript of this repository. In CommonJS, a class of a framework with two sets of
 * declarations is not the class that an ES module extends.
 */
async function checkAdapters(app, folder, [{ name, version, tsc }]) {
  for (const way of waysOf(version).filter(({ ending }) => ending === 'mts')) {
    await check(`${app}, types of adapters, ${way.name}, ${name}`, () => checkOwnTypes(folder, 'adapters', tsc, way));
  }
}

async function checkContracts(app, folder, stores) {
  for (const store of stores) {
    await check(`${app}, contract of the store over ${store}`, () => {
      const env = { CONTRACT: JSON.stringify(contractOf(store)) };
      return runCommand(process.execPath, [LOADERS['ES modules'], './check-contract.cjs'], { cwd: folder, env });
    });
  }
}

async function checkMixture({ name, packages, stores }) {
  const folder = await check(`${name}: npm install`, () => installApp(name.replaceAll(/\W+/g, '-'), packages));
  if (folder) await checkContracts(name, folder, stores);
}

/** What a new user does: `nest new`, and then each command that the docs tell, page by page, on one and the same app. */
async function checkDocs(title, nest) {
  const folder = await check(`${title}: nest new`, () => freshApp(nest));
  if (!folder) return;
  const commands = commandsFor(nest, packed.file);
  let isUsed = false;
  for (const [index, { page, text, args }] of commands.entries()) {
    await check(`${title}, ${page}: ${text}`, () => runInstall(folder, args));
    if (!isUsed) await check(`${title}: nest add`, () => addSessions(folder));
    // Nest 12 sets up another runner.
    if (!isUsed && nest === 11) await check(`${title}: Jest`, () => testWithJest(folder));
    isUsed = true;
    if (commands[index + 1]?.page === page) continue;
    await check(`${title}, ${page}: the app builds and starts`, () => buildAndStart(folder));
  }
}

async function checkApp(app, packages, { binaries, compilers }) {
  const folder = await check(`${app}: npm install`, () => installApp(app.replaceAll(' ', '-'), packages));
  if (!folder) return;
  await checkRuns(app, folder, 'check-app', binaries);
  for (const { name, binary } of binaries) {
    await check(`${app}, the command line, ${name}`, () => checkCommandLine(folder, binary));
  }
  await checkCompiling(app, folder, 'everything', compilers);
  if (!isQuick) await checkAdapters(app, folder, compilers);
  await checkContracts(app, folder, isQuick ? ['libsql'] : ['libsql', 'mysql', 'postgres', 'redis']);
}

async function checkWithoutPeers(packages, { binaries, compilers }) {
  const folder = await check('No optional peers: npm install', () => installApp('no-peers', packages));
  if (!folder) return;
  await checkRuns('No optional peers', folder, 'check-without-peers', binaries);
  for (const { name, binary } of binaries) {
    await check(`No optional peers, the command line, ${name}`, () => checkCommandLineWithoutPeers(folder, binary));
  }
  await checkCompiling('No optional peers', folder, 'without-peers', compilers);
  await check('Newest types of Node: npm install', () => installInto(folder, ['@types/node@latest']));
  await checkCompiling('Newest types of Node', folder, 'without-peers', compilers.slice(0, 1));
  await check('TypeORM without drivers: npm install', () => installInto(folder, ['typeorm']));
  await checkRuns('TypeORM without drivers', folder, 'check-without-drivers', binaries);
}

const packed = await pack();
await check(`The tarball, ${Math.round(packed.size / 1000)} kB`, async () => checkTarball(packed, manifest));
await check('What the root loads', async () => checkLoaded(manifest));
await check('Source maps', async () => checkSourceMaps());
let madeTools;
/** Installed when an app first needs them. */
const tools = () =>
  (madeTools ??= Promise.all([nodes(), typeScripts()]).then(([binaries, compilers]) => ({ binaries, compilers })));
const quickApps = {
  'Nest 12': async (app) => checkApp(app, [packed.file, ...nest12], await tools()),
  'No optional peers': async () => checkWithoutPeers([packed.file, ...withoutPeers], await tools()),
};
const otherApps = {
  'Nest 11': async (app) => checkApp(app, [packed.file, ...nest11], await tools()),
  'Oldest peers': async (app) => checkApp(app, [packed.file, ...oldestPeers(manifest)], await tools()),
  'Docs on Nest 11': (app) => checkDocs(app, 11),
  'Docs on Nest 12': (app) => checkDocs(app, 12),
  ...Object.fromEntries(
    mixtures(manifest).map(({ name, packages, stores }) => [
      name,
      () => checkMixture({ name, packages: [packed.file, ...packages], stores }),
    ]),
  ),
};
if (isQuick) {
  await Promise.all(Object.entries(quickApps).map(([name, run]) => run(name)));
} else {
  for (const [name, run] of Object.entries({ ...quickApps, ...otherApps })) if (isChosen(name)) await run(name);
}

console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 ? 0 : 1;
