// The built app, as `npm start` runs it, in a process of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));

/** Starts it on a free port, with its data in this folder; answers when it listens. */
export async function startApp(folder, settings = {}) {
  const env = { PATH: process.env.PATH, NO_COLOR: '1', PORT: '0', REQUEST_LOG: 'false', ...settings };
  const child = spawn(process.execPath, [main], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  child.stdout.on('data', (chunk) => (printed += chunk));
  child.stderr.on('data', (chunk) => (printed += chunk));
  const exited = once(child, 'exit');
  const url = await new Promise((resolve, reject) => {
    child.stdout.on('data', () => {
      const [, found] = /listening on\s+(\S+)\n/.exec(printed) ?? [];
      if (found) resolve(found);
    });
    void exited.then(() => reject(new Error(`The app did not start.\n${printed}`)));
  });
  return {
    url,
    pid: child.pid,
    /** Once more does nothing. */
    async end(signal) {
      child.kill(signal);
      await exited;
    },
  };
}
