import type { EventInput } from '../../../src/sessions/domain/event.js';
import { SessionsError } from '../../../src/sessions/domain/errors.js';
import type { SessionKey } from '../../../src/sessions/domain/ids.js';
import type { SessionReference } from '../../../src/sessions/domain/session.js';
import type { SessionStorage } from '../../../src/sessions/storage/session-storage.js';
import type { BeginTurnRequest } from '../../../src/sessions/operations/turns.js';
import { SessionService } from '../../../src/sessions/session.service.js';
import { type StoreDescription, openDescribed } from './store-description.js';
import { type SummarizedOpening, SummarizedStore, type Turns } from './summarized-store.js';
import { untilItWorks } from '../attempts.js';
import { numberedEvent, numberedEvents } from './numbered-event.js';

/** How one of several racing calls ended. */
export type Outcome<Success = { readonly seq: number; readonly duplicate: boolean }> =
  Success | { readonly code: string };

export interface Opening {
  readonly store: StoreDescription;
  readonly connections?: number;
  /** The time that this process believes in; the real one unless given. */
  readonly now?: number;
  /** How long sessions live; for ever unless given. */
  readonly sessionSeconds?: number;
}

/** What a worker process can be asked to do. */
export class WorkerTasks {
  #services: SessionService[] = [];
  #storages: SessionStorage[] = [];
  #summarized: SummarizedStore | undefined;

  /** @param report tells the parent of progress; done when it is on its way, so that it survives this process */
  constructor(private readonly report: (progress: number) => Promise<void>) {}

  /** Opens the store so many times, at once; each has a connection of its own. */
  async open({ store, connections = 1, now, sessionSeconds }: Opening): Promise<void> {
    const clock = now === undefined ? undefined : { now: () => now };
    const ttl = sessionSeconds === undefined ? undefined : { enabled: true, sessionSeconds };
    this.#storages = await Promise.all(Array.from({ length: connections }, () => openDescribed(store, { clock })));
    this.#services = this.#storages.map((storage) => new SessionService({ storage, clock, ttl }));
  }

  /** Opens the store with summaries, by a model behind a URL. */
  async openSummarized(opening: SummarizedOpening): Promise<void> {
    this.#summarized = await SummarizedStore.open(opening);
  }

  async appendTurns(turns: Turns): Promise<void> {
    await this.#opened.appendTurns(turns);
  }

  /** Waits until no summary is under way in this process, and says how many it wrote. */
  async settleSummaries(): Promise<{ stored: number; failed: number }> {
    return this.#opened.settle();
  }

  /** Looks for summaries that are due, and writes them. */
  async sweepSummaries(): Promise<number> {
    return this.#opened.sweep();
  }

  get #opened(): SummarizedStore {
    if (!this.#summarized) throw new Error('Open the store first');
    return this.#summarized;
  }

  async close(): Promise<void> {
    await this.#summarized?.close();
    this.#summarized = undefined;
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

  /** Appends an event to each of the sessions, all at once. */
  async appendEach({
    sessions,
    event,
  }: {
    sessions: readonly SessionReference[];
    event: EventInput;
  }): Promise<Outcome[]> {
    return this.#race(sessions.length, async (service, index) => {
      const { event: stored, duplicate } = await service.append({
        session: sessions[index] as SessionReference,
        event,
      });
      return { seq: stored.seq, duplicate };
    });
  }

  /** Begins a turn so many times, all at once. */
  async beginTurns({ turn, times }: { turn: BeginTurnRequest; times: number }): Promise<Outcome<{ number: number }>[]> {
    return this.#race(times, async (service) => {
      const { number } = await service.beginTurn(turn);
      return { number };
    });
  }

  /** Writes in a turn, stops this process as a debugger would, and tries to go on when it continues. */
  async stopInTurn({
    turn: request,
    writer,
    count,
  }: {
    turn: BeginTurnRequest;
    writer: string;
    count: number;
  }): Promise<Outcome[]> {
    const [service] = this.#services;
    if (!service) throw new Error('Open the store first');
    const turn = await service.beginTurn(request);
    const session = { id: turn.sessionId, appName: turn.appName, userId: turn.userId };
    for (let number = 1; number <= count; number++) {
      await service.append({ session, event: numberedEvent(writer, number), turn });
    }
    await this.report(count);
    process.kill(process.pid, 'SIGSTOP');
    return this.#race(count, async (each, index) => {
      const { event, duplicate } = await each.append({
        session,
        event: numberedEvent(writer, count + index + 1),
        turn,
      });
      return { seq: event.seq, duplicate };
    });
  }

  /** Deletes each of the sessions, all at once. */
  async deleteEach({ keys }: { keys: readonly SessionKey[] }): Promise<Outcome[]> {
    return this.#race(keys.length, async (service, index) => {
      await service.deleteSession(keys[index] as SessionKey);
      return { seq: 0, duplicate: false };
    });
  }

  /** How many sessions were cleared away, on all connections at once. */
  async purge(): Promise<number> {
    const counts = await Promise.all(this.#services.map((service) => service.purgeExpired()));
    return counts.reduce((sum, { sessions }) => sum + sessions, 0);
  }

  /**
   * Appends numbered events, so many of them together, each after the ones before were acknowledged and reported; without
   * `count`, for ever.
   */
  async appendNumbered({
    session,
    writer,
    count = Infinity,
    together = 1,
  }: {
    session: SessionReference;
    writer: string;
    count?: number;
    together?: number;
  }): Promise<void> {
    const [service] = this.#services;
    if (!service) throw new Error('Open the store first');
    for (let number = together; number <= count; number += together) {
      await service.appendEvents({ session, events: numberedEvents(writer, number - together + 1, together) });
      await this.report(number);
    }
  }

  /** Appends numbered events, each again and again until it is acknowledged, until the app's state says `stop`. */
  async appendStubbornly({ session, writer }: { session: SessionReference; writer: string }): Promise<number> {
    const [service] = this.#services;
    if (!service) throw new Error('Open the store first');
    // Somebody listens meanwhile, also over connections that break.
    const watching = watchStubbornly(service, session);
    let number = 0;
    for (let isStopped = false; !isStopped;) {
      const event = numberedEvent(writer, number + 1);
      await untilItWorks(() => service.append({ session, event }), Infinity);
      await this.report((number += 1));
      isStopped = 'stop' in (await untilItWorks(() => service.getAppState(session), Infinity));
    }
    await watching.stop();
    return number;
  }

  /** Puts each name on the agenda, all at once. */
  async putOnAgenda({ names, inMs }: { names: readonly string[]; inMs: number }): Promise<void> {
    const { length } = this.#storages;
    await Promise.all(names.map(async (name, index) => this.#storages[index % length]?.agenda.put(name, inMs)));
  }

  /** The calls take turns on the connections. */
  async #race<Success>(
    times: number,
    call: (service: SessionService, index: number) => Promise<Success>,
  ): Promise<Outcome<Success>[]> {
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

/** Watches a session, again and again where that ends with an error. */
function watchStubbornly(service: SessionService, { id: sessionId, ...user }: SessionReference) {
  let watch: AsyncIterableIterator<unknown> | undefined;
  const stopping = new AbortController();
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      watch = service.watch({ ...user, sessionId });
      try {
        while (!(await watch.next()).done);
      } catch {
        // The store was away.
      }
    }
  })();
  return {
    async stop(): Promise<void> {
      stopping.abort();
      await watch?.return?.();
      await watching;
    },
  };
}
