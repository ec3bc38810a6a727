import { ComponentSession, JsonFileComponentStore } from '../../../src/components/index.js';

/** Saves a value and appends to a list again and again, and writes the number of each save that was acknowledged. */
async function run(root: string, name: string, count: number): Promise<void> {
  const components = new ComponentSession({ store: new JsonFileComponentStore({ root, isSynced: false }) });
  for (let number = 1; number <= count; number++) {
    await components.append('shared', 'items', [`${name}-${number}`]);
    await components.save('shared', `value-${name}`, { number, text: 'x'.repeat(2_000) });
    process.stdout.write(`${number}\n`);
  }
}

const [root = '', name = '', count = '0'] = process.argv.slice(3);
void run(root, name, Number(count));
