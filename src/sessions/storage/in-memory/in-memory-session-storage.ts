import { checkOptions } from '../../domain/values/given-options.js';
import type { Clock } from '../../domain/process/clock.js';
import type { ComponentStore } from '../component-store.js';
import { DecidingStorage } from '../../writes/deciding-storage.js';
import { InMemoryStore } from './in-memory-store.js';
import type { Snapshot } from './snapshot.js';

/**
 * Stores sessions in the memory of this process, for development, tests and short-lived agents. It is `Map`s and
 * arrays; texts and frozen objects, so that nothing it returns lets a caller change what is stored.
 *
 * @example
 * const sessions = new SessionService({ storage: new InMemorySessionStorage() });
 */
export class InMemorySessionStorage extends DecidingStorage<InMemoryStore> {
  declare readonly components: ComponentStore;

  constructor(options: { readonly clock?: Clock | undefined } = {}) {
    checkOptions('InMemorySessionStorage', options, { clock: 'clock?' });
    super(new InMemoryStore(options));
  }

  /** The current content, including expired data; for tests and diagnosis. */
  snapshot(): Snapshot {
    return this.store.snapshot();
  }
}
