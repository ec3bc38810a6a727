'use strict';

/**
 * Owns a temporary folder and the program that runs in it, on behalf of the process that forked it. When that process
 * disconnects, the program is stopped and the folder is removed. This also works if the process crashes or is killed.
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
  // Its own process group, so that Ctrl-C does not reach it, and its child processes can be killed with it.
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
  else send({ kind: 'ended', how });
}

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has no processes left.
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

function send(message) {
  if (process.connected) process.send(message, () => undefined);
}

process.on('message', (message) => {
  if (message.kind === 'run') run(message);
  else program?.kill('SIGKILL');
});
process.once('disconnect', end);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);
send({ kind: 'ready', folder });
