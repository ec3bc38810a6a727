import type { SessionStorage } from '../../../../src/storage.js';
import { randomNumbers } from '../../../support/random.js';

/** Turns of the event loop: more than a step of a graph takes, so that graphs run ahead of the store. */
const MOST_TURNS = 12;

/**
 * A store far away: each call arrives late and is answered late, by numbers that follow from the seed, so a later call may be faster.
 * Turns of the event loop stand for milliseconds, so that a busy machine changes nothing.
 */
export function slowStorage(storage: SessionStorage, seed: number): SessionStorage {
  const random = randomNumbers(seed);
  const travel = async (): Promise<void> => {
    const turns = 1 + Math.floor(random() * MOST_TURNS);
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return new Proxy(storage, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return async (...given: readonly unknown[]): Promise<unknown> => {
        await travel();
        const answer: unknown = await Reflect.apply(member, target, given);
        await travel();
        return answer;
      };
    },
  });
}
