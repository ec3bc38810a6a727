import { AsyncLocalStorage } from 'node:async_hooks';
import { InMemorySessionStorage } from '../../src/index.js';
import { isCalledWithinRun, withinRun } from '../../src/agents/calling-runs.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { text } from './support/handlers.js';

describe('the runs within which a handler calls', () => {
  const [one, two] = [{}, {}];
  const seen = (): boolean[] => [one, two].map(isCalledWithinRun);

  it('are known of each instance until they are over', async () => {
    expect(seen()).toEqual([false, false]);
    const outer = withinRun(one, async () => {
      expect(seen()).toEqual([true, false]);
      const inner = withinRun(two, async () => {
        expect(seen()).toEqual([true, true]);
        await Promise.resolve();
        inner.end();
        expect(seen()).toEqual([true, false]);
        outer.end();
        expect(seen()).toEqual([false, false]);
      });
      await inner.result;
    });
    await outer.result;
    expect(seen()).toEqual([false, false]);
  });

  it('need no storage for each instance, which Node would visit at each promise', async () => {
    const begun = jest.spyOn(AsyncLocalStorage.prototype, 'run');
    const storagesAfter = async (instances: number): Promise<number> => {
      for (let count = 0; count < instances; count++) {
        const app = new AgentApp(new InMemorySessionStorage());
        await app.agents.run({ ...KEY, newMessage: 'hi' }, async function* () {
          yield text('done');
        }).result;
        await app.close();
      }
      return new Set(begun.mock.contexts).size;
    };
    const used = await storagesAfter(1);
    expect(used).toBeGreaterThan(0);
    expect(await storagesAfter(5)).toBe(used);
    begun.mockRestore();
  });
});
