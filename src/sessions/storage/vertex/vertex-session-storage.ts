import type { VertexSettings } from '../../../config/store-settings.js';
import type { Clock } from '../../domain/process/clock.js';
import type { TurnOutcome, TurnRequest } from '../../domain/stored/turn.js';
import { UnsupportedByStoreError } from '../../domain/errors/unsupported-error.js';
import { DecidingStorage } from '../../writes/deciding-storage.js';
import { NO_AGENDA, NO_CONSUMERS, NO_LEASES, needsOneProcess } from './unsupported-parts.js';
import type { VertexSessionStorageOptions } from './vertex-options.js';
import { VertexStore } from './vertex-store.js';

/**
 * Stores sessions in the managed sessions of Vertex AI Agent Engine. `docs/providers/vertex.md` says what the service
 * cannot promise.
 *
 * @example
 * const storage = new VertexSessionStorage({ project: 'my-project', location: 'us-central1', reasoningEngine: '123' });
 * const sessions = new SessionService({ storage });
 */
export class VertexSessionStorage extends DecidingStorage<VertexStore> {
  readonly readsTexts = true;
  readonly #isAlone: boolean;

  constructor(options: VertexSessionStorageOptions) {
    const isAlone = options.singleProcess ?? false;
    super(new VertexStore(options), {
      consumers: NO_CONSUMERS,
      // Entries are in this process.
      components: undefined,
      ...(!isAlone && { leases: NO_LEASES, agenda: NO_AGENDA }),
    });
    this.#isAlone = isAlone;
  }

  /** Gets a token and asks the configured engine, so that a wrong setting fails immediately. */
  async open(): Promise<void> {
    await this.store.open();
  }

  override async turn(request: TurnRequest): Promise<TurnOutcome> {
    if (!this.#isAlone) needsOneProcess();
    return super.turn(request);
  }

  override async trim(): Promise<void> {
    throw new UnsupportedByStoreError('Vertex AI cannot remove single events. Leave history.keepHistory on.');
  }

  /** Nothing is stored beside the log. */
  override async rebuild(): Promise<boolean> {
    return false;
  }

  /** Replicas make reads of the log cheap enough. */
  override async saveCheckpoint(): Promise<void> {}
}

/** Creates the store from settings. It sends nothing. */
export function vertexStorageOf(settings: VertexSettings, clock: Clock | undefined): VertexSessionStorage {
  return new VertexSessionStorage({ ...settings, clock });
}
