'use strict';

/**
 * Keeps a temporary folder, and what runs in it, for the process that forked it. When that process disconnects, both
 * go. A process that crashes or is killed disconnects too, so nothing is left behind in any case.
 */
const { spawn } = require('node:child_process');
const { chownSync, closeSync, mkdtempSync, openSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const STOP_LIMIT_MS = 10_000;

const owner = JSON.parse(process.argv[2]);
const folder = mkdtempSync(join(tmpdir(), 'agent-sessions-server-'));
if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);

let program;
let stopSignal = 'SIGTERM';
let ending = false;

function run({ command, args, stopSignal: signal }) {
  const log = openSync(join(folder, 'log'), 'a');
  const env = { ...process.env, LC_ALL: 'C' };
  // A group of its own keeps Ctrl-C away from it, and lets its children be ended with it.
  program = spawn(command, args, { ...owner, cwd: folder, env, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  stopSignal = signal;
  const { pid } = program;
  program.once('error', (error) => ended(error.message));
  program.once('exit', (status, signalCode) => {
    killGroup(pid);
    ended(String(status ?? signalCode));
  });
}

function ended(how) {
  program = undefined;
  if (ending) finish();
  else tell({ kind: 'ended', how });
}

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody was left.
  }
}

function end() {
  if (ending) return;
  ending = true;
  if (!program) finish();
  program.kill(stopSignal);
  setTimeout(() => program?.kill('SIGKILL'), STOP_LIMIT_MS);
}

function finish() {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.exit();
}

function tell(message) {
  if (process.connected) process.send(message, () => undefined);
}

process.on('message', (message) => {
  if (message.kind === 'run') run(message);
  else program?.kill('SIGKILL');
});
process.once('disconnect', end);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);
tell({ kind: 'ready', folder });
