import { SessionService } from '../../../src/index.js';
import type { SharedStore } from './shared-stores.js';
import { openDescribed } from './store-description.js';

/** Services over one store, each with connections of its own, as in processes of their own. */
export class SeparateServices {
  readonly #services: SessionService[] = [];

  constructor(private readonly store: SharedStore) {}

  async open(): Promise<SessionService> {
    const service = new SessionService({ storage: await openDescribed(this.store.description) });
    this.#services.push(service);
    return service;
  }

  /** Closes them, and removes the store. */
  async close(): Promise<void> {
    for (const service of this.#services) await service.close();
    await this.store.destroy();
  }
}
