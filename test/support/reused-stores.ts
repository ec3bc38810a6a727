import { type Clock, systemClock } from '../../src/sessions/domain/process/clock.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import type { TestStore } from './stores.js';

/** A store that tests use one after the other. */
export interface ReusableStore extends Omit<OpenStorage, 'destroy'> {
  /** Removes all data, and nothing else. */
  empty(): Promise<void>;
  /** Removes the place of the store, which is closed. */
  remove(): Promise<void>;
}

/** How to open a store in a place of its own. Without a clock, it takes the time from its server. */
export type OpenReusable = (clock: Clock | undefined) => Promise<ReusableStore>;

/**
 * Opens stores for tests. To open one takes longer than most tests, so a store that a test did not close is emptied, and the
 * next test gets it with a clock of its own.
 */
export function reusedStores(openReusable: OpenReusable): TestStore['open'] {
  const free: StoreOfTests[] = [];
  let isOver = false;
  afterAll(async () => {
    // Hooks that were defined later still give stores back.
    isOver = true;
    await Promise.all(free.splice(0).map((store) => store.remove()));
  });

  return async ({ clock }) => {
    const found = free.findIndex(({ hasClock }) => hasClock === (clock !== undefined));
    const [store] = found < 0 ? [await StoreOfTests.open(openReusable, clock)] : free.splice(found, 1);
    if (!store) throw new Error('A store that was found is there');
    store.useClock(clock);
    return {
      storage: store.storage,
      raw: () => store.raw(),
      async destroy() {
        if (isOver || store.isClosed) return store.remove();
        await store.empty();
        free.push(store);
      },
    };
  };
}

class StoreOfTests {
  /** A test has closed it. */
  isClosed = false;

  private constructor(
    private readonly store: ReusableStore,
    readonly hasClock: boolean,
    readonly useClock: (clock: Clock | undefined) => void,
  ) {
    const { storage } = store;
    const close = storage.close.bind(storage);
    storage.close = () => {
      this.isClosed = true;
      return close();
    };
  }

  static async open(openReusable: OpenReusable, clock: Clock | undefined): Promise<StoreOfTests> {
    let current = clock ?? systemClock;
    const store = await openReusable(clock && { now: () => current.now() });
    return new StoreOfTests(store, clock !== undefined, (next) => (current = next ?? systemClock));
  }

  get storage(): OpenStorage['storage'] {
    return this.store.storage;
  }

  raw(): ReturnType<OpenStorage['raw']> {
    return this.store.raw();
  }

  empty(): Promise<void> {
    return this.store.empty();
  }

  async remove(): Promise<void> {
    if (!this.isClosed) await this.storage.close();
    await this.store.remove();
  }
}
