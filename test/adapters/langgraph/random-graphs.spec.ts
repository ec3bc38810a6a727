import { type BaseCheckpointSaver, MemorySaver } from '@langchain/langgraph-checkpoint';
import fc from 'fast-check';
import { InMemorySessionStorage } from '../../../src/index.js';
import { TIMEOUT_MS, runsOr, searching } from '../../differential/runs.js';
import { rounds } from '../../support/rounds.js';
import { seed } from '../../support/random.js';
import { DURABILITIES, JudgedRun } from './support/judged-run.js';
import { act, graphOf, randomActions, randomLayers } from './support/random-graphs.js';
import { CALLERS, saversOf } from './support/savers.js';
import { slowStorage } from './support/slow-storage.js';

const numRuns = runsOr(rounds(60));

describe('Random graphs on a slow store', () => {
  it(
    `are seen as with MemorySaver, ${numRuns} of them, SEED=${seed}`,
    async () => {
      const ways = fc.record({
        durability: fc.constantFrom(...DURABILITIES),
        caller: fc.constantFrom(...CALLERS),
        delays: fc.nat(),
      });
      const property = fc.asyncProperty(randomLayers, randomActions, ways, async (layers, actions, way) => {
        const seenWith = async (saver: () => BaseCheckpointSaver): Promise<unknown> => {
          const run = new JudgedRun(saver, way.durability, (...given) => graphOf(layers, ...given));
          await act(run, actions);
          return run.end();
        };
        const judge = new MemorySaver();
        const seen = await seenWith(saversOf(way.caller, slowStorage(new InMemorySessionStorage(), way.delays)));
        expect(seen).toEqual(await seenWith(() => judge));
      });
      await fc.assert(property, { ...searching, numRuns });
    },
    TIMEOUT_MS,
  );
});
