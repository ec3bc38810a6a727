#!/usr/bin/env node
import { runCli } from './run-cli.js';

/** By signal, what a shell expects. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

const interrupted = new AbortController();
let exitCode: number | undefined;
for (const [name, code] of Object.entries(EXIT_CODES)) {
  process.on(name, () => {
    // The second time, it does not wait for what is under way.
    if (exitCode !== undefined) process.exit(code);
    exitCode = code;
    interrupted.abort(new Error('interrupted'));
  });
}

/** Timers of a watch do not keep a process alive. */
const alive = setInterval(() => undefined, 2 ** 30);
const { stdout, stderr, stdin, env } = process;
const io = { stdout, stderr, stdin, env, signal: interrupted.signal };
const result = runCli(process.argv.slice(2), io);
void result.then((code) => {
  process.exitCode = exitCode ?? code;
  clearInterval(alive);
  // Input that nobody reads any more would keep the process alive.
  stdin.destroy();
});
