import { spawn } from 'node:child_process';

/** Long enough for an install over a slow line that compiles a driver; what takes longer hangs. */
const LIMIT_MS = 600_000;

/** Runs a program to its end and returns what it said; where it fails, or does not end, the error has all of it. */
export function runCommand(program, args, { cwd, env = {}, limitMs = LIMIT_MS }) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      timeout: limitMs,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    child.stdout.on('data', (data) => (said += data));
    child.stderr.on('data', (data) => (said += data));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(said);
      const end = signal ? `did not end within ${limitMs / 1000} s` : `ended with ${code}`;
      reject(new Error(`${program} ${args.join(' ')} ${end}\n${said}`));
    });
  });
}
