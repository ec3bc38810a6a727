import type { ConsumeOptions, ConsumedEvent, SessionConsumer, SessionService } from '../../src/index.js';
import { until } from './until.js';

/** Often, so that tests need not wait. */
const POLL_MS = 10;

/** A consumer that remembers what it was given. */
export class ConsumedEvents {
  readonly events: ConsumedEvent[] = [];
  /** How many handlers ran at the same time at most. */
  mostAtOnce = 0;
  #running = 0;
  #consumer: SessionConsumer | undefined;

  /** @param handle what the handler does besides; throws if the event fails */
  static async of(
    sessions: SessionService,
    options: Partial<ConsumeOptions> = {},
    handle: (consumed: ConsumedEvent) => void | Promise<void> = () => undefined,
  ): Promise<ConsumedEvents> {
    const consumed = new ConsumedEvents();
    consumed.#consumer = await sessions.consume({
      name: 'mail',
      pollMs: POLL_MS,
      handler: (each) => consumed.#handle(each, handle),
      ...options,
    });
    return consumed;
  }

  /** The ids of the events of a session that were handled, in the order in which their handlers began. */
  idsOf(sessionId: string): string[] {
    return this.events.filter(({ key }) => key.sessionId === sessionId).map(({ event }) => event.id);
  }

  async untilThereAre(count: number): Promise<void> {
    await until(
      () => this.events.length >= count,
      () => `Only ${this.events.length} of ${count} events came`,
    );
  }

  async stop(): Promise<void> {
    await this.#consumer?.stop();
  }

  async #handle(each: ConsumedEvent, handle: (consumed: ConsumedEvent) => void | Promise<void>): Promise<void> {
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#running);
    try {
      await handle(each);
      this.events.push(each);
    } finally {
      this.#running--;
    }
  }
}
