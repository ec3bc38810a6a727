import type { EventInput } from '../../../src/sessions/domain/event/event.js';
import { SessionsError } from '../../../src/sessions/domain/errors/errors.js';
import type { SessionKey } from '../../../src/sessions/domain/values/ids.js';
import type { SessionReference } from '../../../src/sessions/domain/session/session.js';
import type { SessionStorage } from '../../../src/sessions/storage/session-storage.js';
import type { BeginTurnRequest } from '../../../src/sessions/operations/turns.js';
import { SessionService } from '../../../src/sessions/session.service.js';
import type { AdkTask } from '../../adapters/adk/support/adk-process.js';
import { type RunOutcome, type RunsTask, answerApproval, runAgents } from './agent-process.js';
import type { ManyTurnsOutcome, ManyTurnsTask } from './many-turns.js';
import {
  type AppendTask,
  type ConsumeTask,
  type DeadlyTask,
  appendAndDie,
  consumeDeadly,
  consumeUntilDead,
} from './consuming-process.js';
import { type StoreDescription, loadStore, openDescribed } from './store-description.js';
import type { SummarizedOpening, SummarizedStore, Turns } from './summarized-store.js';
import { retryUntilSuccess } from '../until.js';
import { numberedEvent, numberedEvents } from './numbered-event.js';

/** The outcome of one of several concurrent calls. */
export type Outcome<Success = { readonly seq: number; readonly duplicate: boolean }> =
  Success | { readonly code: string };

export interface Opening {
  readonly store: StoreDescription;
  readonly connections?: number;
  /** The fixed time of this process. Default: the real one. */
  readonly now?: number;
  /** The lifetime of sessions. Default: forever. */
  readonly sessionSeconds?: number;
}

/** The tasks of a worker process. */
export class WorkerTasks {
  #services: SessionService[] = [];
  #storages: SessionStorage[] = [];
  #summarized: SummarizedStore | undefined;

  /** @param report sends progress to the parent. Resolves when it is sent, so that it arrives even if this process is killed */
  constructor(private readonly report: (progress: number) => Promise<void>) {}

  /** Loads what opens the store, so that several processes open it at the same moment. */
  async load({ store }: Pick<Opening, 'store'>): Promise<void> {
    await loadStore(store);
  }

  /** Opens the store `connections` times in parallel. */
  async open({ store, connections = 1, now, sessionSeconds }: Opening): Promise<void> {
    const clock = now === undefined ? undefined : { now: () => now };
    const ttl = sessionSeconds === undefined ? undefined : { enabled: true, sessionSeconds };
    this.#storages = await Promise.all(Array.from({ length: connections }, () => openDescribed(store, { clock })));
    this.#services = this.#storages.map((storage) => new SessionService({ storage, clock, ttl }));
  }

  /** Opens the store with summaries by the model at a URL. */
  async openSummarized(opening: SummarizedOpening): Promise<void> {
    // Few tasks need the modules of summaries.
    const summarized = await import('./summarized-store.js');
    this.#summarized = await summarized.SummarizedStore.open(opening);
  }

  async appendTurns(turns: Turns): Promise<void> {
    await this.#opened.appendTurns(turns);
  }

  /** Waits until this process writes no summary, and returns how many it wrote. */
  async settleSummaries(): Promise<{ stored: number; failed: number }> {
    return this.#opened.settle();
  }

  /** Writes the summaries that are due. */
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

  /** Consumes events until this process dies. */
  async consumeUntilDead(task: ConsumeTask): Promise<void> {
    await consumeUntilDead(task, this.report);
  }

  /** Consumes all events, or dies in the middle of them. */
  async consumeDeadly(task: DeadlyTask): Promise<void> {
    await consumeDeadly(task, this.report);
  }

  /** Runs agents, and meets a signal in the middle. */
  async runAgents(task: RunsTask): Promise<RunOutcome[]> {
    const [storage] = this.#storages;
    if (!storage) throw new Error('Open the store first');
    return runAgents(storage, task, this.report);
  }

  /** Serves agents over HTTP until the process is terminated. Returns the port. */
  async serveAgents({ drainMs }: { readonly drainMs: number }): Promise<number> {
    const [storage] = this.#storages;
    if (!storage) throw new Error('Open the store first');
    // Few tasks need Nest.
    const { serveAgents } = await import('./agent-server.js');
    return serveAgents(storage, drainMs);
  }

  /** Answers what an agent asks, several times at once. */
  async answerApproval(task: Parameters<typeof answerApproval>[1]): Promise<RunOutcome[]> {
    const [storage] = this.#storages;
    if (!storage) throw new Error('Open the store first');
    return answerApproval(storage, task);
  }

  /** Runs agents in many sessions at once, and counts what they cost. */
  async runManyTurns(task: ManyTurnsTask): Promise<ManyTurnsOutcome> {
    const [storage] = this.#storages;
    if (!storage) throw new Error('Open the store first');
    // Few tasks need to observe the drivers.
    const { runManyTurns } = await import('./many-turns.js');
    return runManyTurns(storage, task);
  }

  /** Uses the sessions through Google's ADK. */
  async runAdk(task: AdkTask): Promise<void> {
    const [service] = this.#services;
    if (!service) throw new Error('Open the store first');
    // Few tasks need the framework.
    const { runAdk } = await import('../../adapters/adk/support/adk-process.js');
    await runAdk(service, task);
  }

  /** Appends events, and dies right after the commit. */
  async appendAndDie(task: AppendTask): Promise<void> {
    await appendAndDie(task);
  }

  /** Creates the session `times` times in parallel. */
  async create({ key, times }: { key: SessionKey; times: number }): Promise<Outcome[]> {
    return this.#race(times, async (service) => {
      const { version } = await service.createSession(key);
      return { seq: version, duplicate: false };
    });
  }

  /** Appends all events in parallel. */
  async append({ session, events }: { session: SessionReference; events: readonly EventInput[] }): Promise<Outcome[]> {
    return this.#race(events.length, async (service, index) => {
      const { event, duplicate } = await service.append({ session, event: events[index] ?? {} });
      return { seq: event.seq, duplicate };
    });
  }

  /** Appends an event to each of the sessions in parallel. */
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

  /** Begins a turn `times` times in parallel. */
  async beginTurns({ turn, times }: { turn: BeginTurnRequest; times: number }): Promise<Outcome<{ number: number }>[]> {
    return this.#race(times, async (service) => {
      const { number } = await service.beginTurn(turn);
      return { number };
    });
  }

  /** Writes in a turn, stops this process with SIGSTOP, and tries to write again when it continues. */
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

  /** Deletes the sessions in parallel. */
  async deleteEach({ keys }: { keys: readonly SessionKey[] }): Promise<Outcome[]> {
    return this.#race(keys.length, async (service, index) => {
      await service.deleteSession(keys[index] as SessionKey);
      return { seq: 0, duplicate: false };
    });
  }

  /** Purges on all connections in parallel. Returns the number of removed sessions. */
  async purge(): Promise<number> {
    const counts = await Promise.all(this.#services.map((service) => service.purgeExpired()));
    return counts.reduce((sum, { sessions }) => sum + sessions, 0);
  }

  /**
   * Appends numbered events in batches of `together`, each after the batch before was acknowledged and reported. Without
   * `count`, it never ends.
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

  /** Appends numbered events, each retried until it is acknowledged, until the app state has the key `stop`. */
  async appendWithRetry({ session, writer }: { session: SessionReference; writer: string }): Promise<number> {
    const [service] = this.#services;
    if (!service) throw new Error('Open the store first');
    // The session also has a watch, whose connections break too.
    const watching = watchWithRetry(service, session);
    let number = 0;
    for (let isStopped = false; !isStopped;) {
      const event = numberedEvent(writer, number + 1);
      await retryUntilSuccess(() => service.append({ session, event }), Infinity);
      await this.report((number += 1));
      isStopped = 'stop' in (await retryUntilSuccess(() => service.getAppState(session), Infinity));
    }
    await watching.stop();
    return number;
  }

  /** Puts all names on the agenda in parallel. */
  async putOnAgenda({ names, inMs }: { names: readonly string[]; inMs: number }): Promise<void> {
    const { length } = this.#storages;
    await Promise.all(names.map(async (name, index) => this.#storages[index % length]?.agenda.put(name, inMs)));
  }

  /** Distributes the calls over the connections. */
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

/** Watches a session, and again after each error. */
function watchWithRetry(service: SessionService, { id: sessionId, ...user }: SessionReference) {
  let watch: AsyncIterableIterator<unknown> | undefined;
  const stopping = new AbortController();
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      watch = service.watch({ ...user, sessionId });
      try {
        while (!(await watch.next()).done);
      } catch {
        // The store was unavailable.
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
