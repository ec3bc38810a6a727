import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ComponentSession } from '../../src/components/index.js';
import { diagnose } from '../../src/doctor/index.js';
import { describeEveryStore } from '../support/processes/shared-stores.js';
import { openDescribed } from '../support/processes/store-description.js';
import { type SharedComponents, openComponents, saveWithPolicies } from './support/component-places.js';
import { temporaryFolder } from './support/stores.js';

const BOOTSTRAP = join(__dirname, '../support/processes/bootstrap.cjs');
const PROCESS = join(__dirname, 'support/saving-process.ts');
const ROUNDS = 12;
/** Each is an append to a list and a save of a value. */
const PAIRS_OF_SAVES = 250;

const folder = temporaryFolder();

/** Saves beside a child process with each policy, lets it save alone, and kills it. Returns the last number that it acknowledged. */
async function saveBesideChild(shared: SharedComponents, components: ComponentSession): Promise<number> {
  const child = spawn(process.execPath, [BOOTSTRAP, PROCESS, JSON.stringify(shared), String(ROUNDS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let own: Promise<void> | undefined;
  let last = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'open') own = saveWithPolicies(components, 'parent', ROUNDS);
    else last = Number(line);
    if (last >= PAIRS_OF_SAVES) child.kill('SIGKILL');
  }
  await exited;
  await own;
  return last;
}

async function expectAllSaved(shared: SharedComponents, settle: () => Promise<void>): Promise<void> {
  const before = await openComponents(shared);
  const acknowledged = await saveBesideChild(shared, new ComponentSession({ store: before.store }));
  await before.close();
  await settle();
  const { store, close } = await openComponents(shared);
  try {
    const components = new ComponentSession({ store });
    await expectPolicies(components);
    const items = await components.getList<number>('killed', 'items');
    const { value, version } = await components.getVersioned<{ number: number; text: string }>('killed', 'value');
    expect(acknowledged).toBeGreaterThanOrEqual(PAIRS_OF_SAVES);
    expect(items.length).toBeGreaterThanOrEqual(acknowledged);
    expect(items).toEqual(items.map((_, index) => index + 1));
    // What was under way may be there, whole.
    expect([items.length, items.length - 1]).toContain(value?.number);
    expect(value?.number).toBeGreaterThanOrEqual(acknowledged);
    expect(version).toBe(value?.number);
    expect(value?.text).toHaveLength(2_000);
    expect(await components.append('killed', 'items', ['after'])).toBe(items.length + 1);
  } finally {
    await close();
  }
}

async function expectPolicies(components: ComponentSession): Promise<void> {
  const total = 2 * ROUNDS;
  for (const list of ['merged', 'checked']) {
    const { value, version } = await components.getListVersioned<string>('policies', list);
    expect([value.length, version]).toEqual([total, total]);
    for (const name of ['child', 'parent']) {
      const own = value.filter((item) => item.startsWith(name));
      expect(own).toEqual(own.map((_, index) => `${name}-${index + 1}`));
    }
  }
  expect(await components.getVersioned('policies', 'counted')).toEqual({ value: total, version: total });
  expect(await components.getVersioned('policies', 'overwritten')).toMatchObject({
    value: { round: ROUNDS },
    version: total,
  });
}

const TITLE = 'keeps what two processes save with each policy, and what one of them saved before it was killed';

describe('Component state in JSON files', () => {
  it(TITLE, () => expectAllSaved({ kind: 'JSON files', root: join(folder, 'shared') }, async () => undefined));
});

describeEveryStore('Component state in a shared $name store', ({ create }) => {
  it(TITLE, async () => {
    const store = await create();
    try {
      await expectAllSaved(store.description, () => store.settle());
      await store.checkIntegrity();
      const storage = await openDescribed(store.description);
      expect((await diagnose({ storage })).findings).toEqual([]);
      await storage.close();
    } finally {
      await store.destroy();
    }
  });
});
