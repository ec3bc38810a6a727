import { type BaseCheckpointSaver, MemorySaver } from '@langchain/langgraph-checkpoint';
import { isFastLayer } from '../../support/layer.js';
import { isEveryStoreWanted } from '../../support/rounds.js';
import { storeOfEachKind } from '../../support/stores.js';
import { DURABILITIES, type Durability, JudgedRun } from './support/judged-run.js';
import { CALLERS, type Caller, saversOf } from './support/savers.js';
import { type Scenario, scenarios } from './support/scenarios.js';
import { slowStorage } from './support/slow-storage.js';

const WAYS = CALLERS.flatMap((caller) => DURABILITIES.map((durability) => ({ caller, durability })));

/** Ways to run a scenario: the usual one, and one of the others, unless all are wanted. In the fast layer one, each in its turn. */
function waysOf(index: number): readonly { readonly caller: Caller; readonly durability: Durability }[] {
  const [usual, ...others] = WAYS;
  if (isEveryStoreWanted) return WAYS;
  return WAYS.filter((way) =>
    isFastLayer ? way === WAYS[index % WAYS.length] : way === usual || way === others[index % others.length],
  );
}

async function seenWith(
  saver: () => BaseCheckpointSaver,
  scenario: Scenario,
  durability: Durability,
): Promise<unknown> {
  const run = new JudgedRun(saver, durability, scenario.build);
  await scenario.play(run);
  return run.end();
}

/** What LangGraph's own saver shows, which is the same for all stores and callers. */
const judged = new Map<string, Promise<unknown>>();

function seenByJudge(scenario: Scenario, durability: Durability): Promise<unknown> {
  const key = `${durability} ${scenario.title}`;
  const judge = new MemorySaver();
  const seen = judged.get(key) ?? seenWith(() => judge, scenario, durability);
  judged.set(key, seen);
  return seen;
}

const cases = scenarios.flatMap((scenario, index) =>
  waysOf(index).map((way) => ({ scenario, seed: index, ...way, title: scenario.title })),
);

/** LangGraph's own saver is the judge: what it shows must be seen with a store that answers late, in any order. */
describe.each(storeOfEachKind)('A graph whose state is on a slow $name store', ({ name, open }) => {
  // On servers, each scenario in the usual way.
  const some =
    name === 'memory' || isEveryStoreWanted
      ? cases
      : cases.filter(({ caller, durability }) => caller === 'one process' && durability === 'async');

  it.each(some)(
    'sees what it sees with MemorySaver, $durability, by $caller: $title',
    async ({ scenario, caller, durability, seed }) => {
      const store = await open({});
      const seen = await seenWith(saversOf(caller, slowStorage(store.storage, seed)), scenario, durability);
      await store.destroy();
      expect(seen).toEqual(await seenByJudge(scenario, durability));
    },
  );
});
