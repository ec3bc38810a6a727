import { StoreUnavailableError } from '../../src/index.js';
import type { SessionStorage } from '../../src/sessions/storage/session-storage.js';
import { until } from './until.js';

type Call = (...args: unknown[]) => unknown;

/** A store as one process uses it, which can die: then none of its calls arrives. */
export class MortalStorage {
  readonly storage: SessionStorage;
  /** Fails when the process dies. */
  readonly death: Promise<never>;
  #die: (error: Error) => void = () => undefined;
  #isDead = false;
  #polls = 0;
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(shared: SessionStorage) {
    this.death = new Promise((_resolve, reject) => (this.#die = reject));
    this.death.catch(() => undefined);
    this.storage = this.#mortal(shared);
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  die(): void {
    this.#isDead = true;
    this.#die(new Error('The process has ended'));
  }

  /** Waits until no call of the dead process is under way. */
  async bury(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  /** Waits until the process has polled for marked sessions so many times. Fails if it dies. */
  async polls(count: number): Promise<void> {
    const goal = this.#polls + count;
    await Promise.race([this.death, until(() => this.#isDead || this.#polls >= goal)]);
  }

  #mortal<Target extends object>(target: Target): Target {
    return new Proxy(target, {
      get: (_target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value === 'function')
          return (...args: unknown[]) => this.#call(name, () => (value as Call).apply(target, args));
        return name !== 'feed' && typeof value === 'object' && value !== null ? this.#mortal(value) : value;
      },
    });
  }

  #call(name: string | symbol, call: () => unknown): unknown {
    if (this.#isDead) return Promise.reject(new StoreUnavailableError('The process has ended.', false));
    if (name === 'changed') this.#polls += 1;
    const answer = call();
    if (!(answer instanceof Promise)) return answer;
    this.#underWay.add(answer);
    return answer.finally(() => this.#underWay.delete(answer));
  }
}
