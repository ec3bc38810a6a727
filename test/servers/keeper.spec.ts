import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/until.js';
import { Keeper } from './keeper.js';

const program = {
  command: process.execPath,
  args: ['-e', `require('node:fs').writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1000);`],
  stopSignal: 'SIGTERM',
} as const;

/** Starts a keeper and its program, prints the folder, and does not end. */
const script = `
  const child = require('node:child_process').fork(${JSON.stringify(join(__dirname, 'keeper-process.cjs'))}, ['{}'], {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  child.once('message', ({ folder }) => {
    child.send({ kind: 'run', ...${JSON.stringify(program)} });
    console.log(folder);
  });`;

describe('Keeper', () => {
  it('stops its program and removes its folder', async () => {
    const keeper = await Keeper.start();
    const ended = keeper.run(program);
    const pid = await pidIn(keeper.folder);

    await keeper.end();

    expect(isRunning(pid)).toBe(false);
    expect(existsSync(keeper.folder)).toBe(false);
    await expect(ended).resolves.toBe('its keeper ended');
  });

  it('returns the exit status of its program, and its log', async () => {
    const keeper = await Keeper.start();
    const printing = { ...program, args: ['-e', `console.log('Good-bye'); process.exit(3);`] };

    await expect(keeper.runToEnd(printing)).resolves.toBe('3');
    expect(keeper.log()).toBe('Good-bye');
    await expect(keeper.runToEnd({ ...program, command: '/does/not/exist' })).resolves.toContain('ENOENT');

    await keeper.end();
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('leaves nothing behind after a %s', async (signal) => {
    const process = spawn(program.command, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [output] = (await once(process.stdout, 'data')) as [Buffer];
    const folder = output.toString().trim();
    const pid = await pidIn(folder);

    process.kill(signal);
    await until(() => !isRunning(pid) && !existsSync(folder));
  });
});

async function pidIn(folder: string): Promise<number> {
  const file = join(folder, 'pid');
  await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '');
  return Number(readFileSync(file, 'utf8'));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
