import { ComponentSession } from '../../../src/components/index.js';
import { type SharedComponents, openComponents, saveWithPolicies } from './component-places.js';

/** Saves with each policy, and then until it is killed. Writes the number of each pair of saves that was acknowledged. */
async function run(shared: SharedComponents, rounds: number): Promise<void> {
  const { store } = await openComponents(shared);
  const components = new ComponentSession({ store });
  process.stdout.write('open\n');
  await saveWithPolicies(components, 'child', rounds);
  for (let number = 1; ; number++) {
    await components.append('killed', 'items', [number]);
    await components.save('killed', 'value', { number, text: 'x'.repeat(2_000) });
    process.stdout.write(`${number}\n`);
  }
}

const [shared = '', rounds = ''] = process.argv.slice(3);
void run(JSON.parse(shared) as SharedComponents, Number(rounds));
