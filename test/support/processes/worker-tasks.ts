import type { EventInput } from '../../../src/sessions/domain/event.js';
import { SessionsError } from '../../../src/sessions/domain/errors.js';
import type { SessionKey } from '../../../src/sessions/domain/ids.js';
import type { SessionReference } from '../../../src/sessions/domain/session.js';
import { SessionService } from '../../../src/sessions/session.service.js';
import { type StoreDescription, openDescribed } from './store-description.js';
import { numberedEvent } from './numbered-event.js';

/** How one of several racing calls ended. */
export type Outcome = { readonly seq: number; readonly duplicate: boolean } | { readonly code: string };

/** What a worker process can be asked to do. */
export class WorkerTasks {
  #services: SessionService[] = [];

  /** @param report tells the parent of progress; done when it is on its way, so that it survives this process */
  constructor(private readonly report: (progress: number) => Promise<void>) {}

  /** Opens the store so many times, at once; each has a connection of its own. */
  async open({ store, connections = 1 }: { store: StoreDescription; connections?: number }): Promise<void> {
    const storages = await Promise.all(Array.from({ length: connections }, () => openDescribed(store)));
    this.#services = storages.map((storage) => new SessionService({ storage }));
  }

  async close(): Promise<void> {
    await Promise.all(this.#services.splice(0).map((service) => service.close()));
  }

  /** Creates the session so many times, all at once. */
  async create({ key, times }: { key: SessionKey; times: number }): Promise<Outcome[]> {
    return this.#race(times, async (service) => {
      const { version } = await service.createSession(key);
      return { seq: version, duplicate: false };
    });
  }

  /** Appends each of the events, all at once. */
  async append({ session, events }: { session: SessionReference; events: readonly EventInput[] }): Promise<Outcome[]> {
    return this.#race(events.length, async (service, index) => {
      const { event, duplicate } = await service.append({ session, event: events[index] ?? {} });
      return { seq: event.seq, duplicate };
    });
  }

  /** Appends numbered events, each after the one before was acknowledged and reported; without `count`, for ever. */
  async appendNumbered({
    session,
    writer,
    count = Infinity,
  }: {
    session: SessionReference;
    writer: string;
    count?: number;
  }): Promise<void> {
    const [service] = this.#services;
    if (!service) throw new Error('Open the store first');
    for (let number = 1; number <= count; number++) {
      await service.appendEvent({ session, event: numberedEvent(writer, number) });
      await this.report(number);
    }
  }

  /** The calls take turns on the connections. */
  async #race(times: number, call: (service: SessionService, index: number) => Promise<Outcome>): Promise<Outcome[]> {
    const { length } = this.#services;
    return Promise.all(
      Array.from({ length: times }, async (_, index) => {
        try {
          return await call(this.#services[index % length] as SessionService, index);
        } catch (error) {
          if (error instanceof SessionsError) return { code: error.code };
          throw error;
        }
      }),
    );
  }
}
