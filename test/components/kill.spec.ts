import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ComponentSession, JsonFileComponentStore } from '../../src/components/index.js';
import { temporaryFolder } from './support/stores.js';

const BOOTSTRAP = join(__dirname, '../support/processes/bootstrap.cjs');
const PROCESS = join(__dirname, 'support/saving-process.ts');
const SAVES = 500;

const folder = temporaryFolder();

function start(root: string, name: string, count: number): ChildProcess {
  return spawn(process.execPath, [BOOTSTRAP, PROCESS, root, name, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** The highest number that the process acknowledged. It is killed after so many. */
async function acknowledged(child: ChildProcess, killAfter = Infinity): Promise<number> {
  let last = 0;
  const exited = once(child, 'exit');
  if (!child.stdout) throw new Error('The process has no output');
  for await (const line of createInterface({ input: child.stdout })) {
    last = Number(line);
    if (last >= killAfter) child.kill('SIGKILL');
  }
  await exited;
  return last;
}

function read(root: string): ComponentSession {
  return new ComponentSession({ store: new JsonFileComponentStore({ root }) });
}

it('a process that is killed loses nothing that was acknowledged, and leaves nothing torn', async () => {
  const root = join(folder, 'killed');
  let total = 0;
  for (let round = 0; total < SAVES; round++) {
    const name = `round${round}`;
    const count = await acknowledged(start(root, name, SAVES), 40 + 13 * round);
    total += count;
    const components = read(root);
    const items = (await components.getList<string>('shared', 'items')).filter((item) => item.startsWith(`${name}-`));
    const value = await components.get<{ number: number; text: string }>('shared', `value-${name}`);
    // What was under way may be there, whole.
    expect(items.length).toBeGreaterThanOrEqual(count);
    expect(items).toEqual(items.map((_, index) => `${name}-${index + 1}`));
    expect([items.length, items.length - 1]).toContain(value?.number);
    expect(value?.number).toBeGreaterThanOrEqual(count);
    expect(value?.text).toHaveLength(2_000);
  }
});

it('two processes append to one list without losing an item', async () => {
  const root = join(folder, 'shared');
  await Promise.all(['one', 'two'].map((name) => acknowledged(start(root, name, 50))));
  const items = await read(root).getList<string>('shared', 'items');
  expect(items).toHaveLength(100);
  for (const name of ['one', 'two']) {
    const own = items.filter((item) => item.startsWith(name));
    expect(own).toEqual(own.map((_, index) => `${name}-${index + 1}`));
  }
  expect(await read(root).getListVersioned('shared', 'items')).toMatchObject({ version: 100 });
});
