import assert from 'node:assert/strict';
import { join } from 'node:path';
import { runCommand } from './run-command.mjs';

/** What npm links for `npx agent-sessions`. */
const program = (folder) => join(folder, 'node_modules/.bin/agent-sessions');

/** Migrates a new database, and checks it. */
export async function checkCommandLine(folder, binary) {
  const run = (...args) => runCommand(binary, [program(folder), ...args, '--url', 'sqlite:cli.db'], { cwd: folder });
  assert.match(await run('migrate'), /up to date/);
  assert.match(await run('verify', '--strict'), /0 errors, 0 warnings/);
}

/** Says which package the store needs. */
export async function checkCommandLineWithoutPeers(folder, binary) {
  const run = runCommand(binary, [program(folder), 'list', '--url', 'redis://127.0.0.1:6379'], { cwd: folder });
  await assert.rejects(run, /error CONFIGURATION_INVALID: .*npm install ioredis/);
}
