import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { install, scratch } from '../scratch.mjs';
import { runCommand } from '../run-command.mjs';

const START_LIMIT_MS = 60_000;
const FLAGS = ['--no-audit', '--no-fund', '--prefer-offline'];

/** An app as `nest new` makes one, with all that it asks for. */
export async function freshApp(nest) {
  const tools = await install(`nest-cli-${nest}`, [`@nestjs/cli@${nest}`]);
  const name = `fresh-app-${nest}`;
  const folder = join(scratch, name);
  rmSync(folder, { recursive: true, force: true });
  const cli = join(tools, 'node_modules/.bin/nest');
  await runCommand(cli, ['new', name, '--package-manager', 'npm', '--skip-git', '--skip-install'], { cwd: scratch });
  await runCommand('npm', ['install', ...FLAGS], { cwd: folder });
  return folder;
}

/** Runs a command of the docs unchanged. */
export async function runInstall(folder, args) {
  await runCommand('npm', ['install', ...FLAGS, ...args], { cwd: folder });
}

/** Gives the app sessions in memory, by the command of its Nest CLI. A second time, nothing changes. */
export async function addSessions(folder) {
  const file = join(folder, 'src/app.module.ts');
  const add = () =>
    runCommand('node_modules/.bin/nest', ['add', 'nestjs-agent-sessions', '--skip-install'], { cwd: folder });
  const said = await add();
  const text = readFileSync(file, 'utf8');
  if (!text.includes('imports: [SessionsModule.forRoot(') || !said.includes('Sessions are in memory now')) {
    throw new Error(`nest add said:\n${said}\nand wrote:\n${text}`);
  }
  await add();
  if (readFileSync(file, 'utf8') !== text) throw new Error(`nest add changed ${file} again`);
}

/** Tests the app by the Jest that `nest new` has set up, with the option of docs/configuration.md: compiled to CommonJS. */
export async function testWithJest(folder) {
  const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
  const [option] = /"transformIgnorePatterns": \[.*\]/.exec(page);
  const file = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  Object.assign(manifest.jest, JSON.parse(`{${option}}`), { roots: ['<rootDir>'] });
  writeFileSync(file, JSON.stringify(manifest, null, 2));
  writeFileSync(join(folder, 'src/sessions.spec.ts'), SPEC);
  await runCommand('npx', ['jest', 'sessions.spec'], { cwd: folder });
}

const SPEC = `
import { Test } from '@nestjs/testing';
import { InMemorySessionStorage, SESSION_STORAGE, SessionService } from 'nestjs-agent-sessions';
import { AppModule } from './app.module';

it('keeps sessions in memory', async () => {
  const module = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(SESSION_STORAGE)
    .useValue(new InMemorySessionStorage())
    .compile();
  const app = await module.init();
  const session = await app.get(SessionService).createSession({ appName: 'shop', userId: 'ann' });
  expect(session.userId).toBe('ann');
  await app.close();
});
`;

/** Builds the app and starts it; it has to answer. */
export async function buildAndStart(folder) {
  await runCommand('npm', ['run', 'build'], { cwd: folder });
  const port = await freePort();
  const env = { ...process.env, PORT: String(port), NO_COLOR: '1' };
  const app = spawn(process.execPath, ['dist/main.js'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [app.stdout, app.stderr]) stream.on('data', (data) => (said += data));
  const ended = once(app, 'exit');
  try {
    await started(app, () => said);
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    if (answer.status !== 200) throw new Error(`The app answered ${answer.status}\n${said}`);
  } finally {
    app.kill('SIGKILL');
    await ended;
  }
}

async function started(app, said) {
  const deadline = performance.now() + START_LIMIT_MS;
  while (!said().includes('successfully started')) {
    if (app.exitCode !== null || performance.now() > deadline) throw new Error(`The app did not start\n${said()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  if (!said().includes('Sessions are kept in memory')) throw new Error(`The app has no sessions\n${said()}`);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
