import { EntryComponents } from '../../coordination/components/entry-components.js';
import { checkOptions } from '../../domain/values/given-options.js';
import { checkedClock } from '../../domain/process/checked-clock.js';
import type { Clock } from '../../domain/process/clock.js';
import { InMemoryEntries } from './in-memory-entries.js';

/**
 * Keeps component state in this process.
 *
 * @example const components = new ComponentSession({ store: new InMemoryComponentStore() });
 */
export class InMemoryComponentStore extends EntryComponents {
  readonly #entries: InMemoryEntries;

  constructor(options: { readonly clock?: Clock | undefined } = {}) {
    checkOptions('InMemoryComponentStore', options, { clock: 'clock?' });
    const clock = checkedClock(options.clock);
    const entries = new InMemoryEntries(() => clock.now());
    super(entries);
    this.#entries = entries;
  }

  async close(): Promise<void> {
    this.#entries.clear();
  }
}
