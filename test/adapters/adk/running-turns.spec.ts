import { callInTurn, turnHeldBy } from '../../../src/adapters/adk/running-turns.js';
import type { HeldTurn } from '../../../src/index.js';

const turn = (token: string): HeldTurn => ({ token }) as HeldTurn;

describe('The turns of runs that call', () => {
  it('are those of their service, also within a run of another', async () => {
    const [one, two] = [{}, {}];
    const [first, second, third] = [turn('a'), turn('b'), turn('c')];
    const held = (): unknown[] => [turnHeldBy(one), turnHeldBy(two)];
    await callInTurn(one, first, async () => {
      expect(held()).toEqual([first, undefined]);
      await callInTurn(two, second, async () => {
        await Promise.resolve();
        expect(held()).toEqual([first, second]);
        callInTurn(one, third, () => expect(held()).toEqual([third, second]));
      });
      expect(held()).toEqual([first, undefined]);
    });
    expect(held()).toEqual([undefined, undefined]);
  });
});
