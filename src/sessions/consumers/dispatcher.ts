import { compareBytes, sessionKeyOf } from '../domain/values/ids.js';
import { type SessionRecord, NOTHING_WAITS } from '../domain/stored/session-record.js';
import { type HeldLease, withLease } from '../leases/with-lease.js';
import type { ChangedSession, DispatchRequest, NewWork } from '../storage/coordination.js';
import { positionOf } from '../storage/list-order.js';
import type { ListResult, SessionStorage } from '../storage/session-storage.js';
import {
  type FillPosition,
  type RegisteredConsumer,
  consumerOf,
  settingsText,
  wants,
  workOn,
} from './consumer-settings.js';

export interface DispatcherOptions {
  readonly storage: SessionStorage;
  /** Called after work was added for a consumer. */
  readonly onWork: (consumer: string) => void;
  readonly onLeaseError: (error: unknown) => void;
}

/** The name of the lease. */
const DISPATCH_LEASE = 'nestjs-agent-sessions:consumers';

/** After a crash of the dispatcher, the next one starts within this time. */
const LEASE_MS = 10_000;
/** Sessions per step. */
const PAGE = 100;
/** Every this many runs, it checks for fills that other processes started. */
const RUNS_PER_LOOK = 30;

/**
 * Turns marks of sessions with new events into work for each consumer, in one process at a time.
 *
 * It reads marks before consumers. So if a mark covers an event, each consumer that was registered before the event is in
 * the list. The commit of the first event after a dispatch marks the session, so that nothing scans sessions or logs, and no event is
 * missed whose writer dies. Numbers of one sequence for all sessions would become visible out of order.
 */
export class Dispatcher {
  #runs = 0;
  #mayFill = true;

  constructor(private readonly options: DispatcherOptions) {}

  /** Dispatches all marked sessions. Returns `false` if another process has the lease. */
  async run(stopping: AbortSignal): Promise<boolean> {
    if (!(await this.#isNeeded())) return true;
    const outcome = await this.#withLease((held) => this.#dispatchAll(held, stopping));
    return outcome.ran;
  }

  /** Stores new apps of a consumer. Returns `false` if another process has the lease. */
  async changeApps(name: string, apps: readonly string[] | undefined): Promise<boolean> {
    const { consumers } = this.options.storage;
    const outcome = await this.#withLease(async ({ token }) => {
      const consumer = (await this.#consumers()).find((known) => known.name === name);
      if (!consumer) return true;
      const next = settingsText({ ...consumer, apps });
      if (next === consumer.text) return true;
      return consumers.dispatch({ token, work: [], taken: [], settings: { name, expected: consumer.text, next } });
    });
    return outcome.ran && outcome.result;
  }

  /** Call it after a consumer with `from: 'start'` was registered. */
  expectFill(): void {
    this.#mayFill = true;
  }

  async #isNeeded(): Promise<boolean> {
    const { consumers } = this.options.storage;
    if ((await consumers.changed(1)).length > 0) return true;
    if (!this.#mayFill && this.#runs++ % RUNS_PER_LOOK > 0) return false;
    this.#mayFill = (await this.#consumers()).some(({ fill }) => fill);
    return this.#mayFill;
  }

  async #dispatchAll(held: HeldLease, stopping: AbortSignal): Promise<void> {
    const { consumers } = this.options.storage;
    for (;;) {
      held.signal.throwIfAborted();
      if (stopping.aborted) return;
      const taken = await consumers.changed(PAGE);
      const isFilling = await this.#fill(held.token);
      if (taken.length > 0 && !(await this.#dispatch(taken, held.token))) return;
      if (!isFilling && taken.length < PAGE) return;
    }
  }

  async #dispatch(taken: readonly ChangedSession[], token: number): Promise<boolean> {
    const { storage, onWork } = this.options;
    // Read after the marks, and after the fill, which changes settings.
    const consumers = await this.#consumers();
    const work = taken.flatMap((session) =>
      consumers.filter((consumer) => wants(consumer, session)).map((consumer) => workOn(session, consumer)),
    );
    if (!(await storage.consumers.dispatch({ token, work, taken }))) return false;
    for (const name of new Set(work.map(({ consumer }) => consumer))) onWork(name);
    return true;
  }

  /** Adds a page of older sessions for one consumer. Returns `false` if no consumer needs one. */
  async #fill(token: number): Promise<boolean> {
    const { storage, onWork } = this.options;
    const consumer = (await this.#consumers()).find(({ fill }) => fill);
    this.#mayFill = consumer !== undefined;
    if (!consumer) return false;
    const page = await fillPage(storage, consumer);
    const isDone = await storage.consumers.dispatch({ token, taken: [], ...page });
    if (isDone && page.work.length > 0) onWork(consumer.name);
    return isDone;
  }

  async #consumers(): Promise<RegisteredConsumer[]> {
    return (await this.options.storage.consumers.list()).map(consumerOf);
  }

  #withLease<Result>(work: (held: HeldLease) => Promise<Result>) {
    const { storage, onLeaseError } = this.options;
    const lease = { leases: storage.leases, name: DISPATCH_LEASE, ttlMs: LEASE_MS, onError: onLeaseError };
    return withLease(lease, work);
  }
}

const ORDER = { orderBy: 'createTime', order: 'asc' } as const;

/** The next page of older sessions for a consumer, and its position after the page. */
async function fillPage(
  storage: SessionStorage,
  consumer: RegisteredConsumer,
): Promise<Pick<DispatchRequest, 'work' | 'settings'>> {
  const { fill = {}, name, text: expected } = consumer;
  const apps = consumer.apps ?? (await storage.consumers.apps());
  const appName = apps.find((app) => isLeft(fill, app));
  if (appName === undefined) {
    return { work: [], settings: { name, expected, next: settingsText({ ...consumer, fill: undefined }) } };
  }
  const after = appName === fill.appName ? fill.after : undefined;
  const page = await storage.list({ appName, ...ORDER, after, limit: PAGE, withState: false });
  const next = settingsText({ ...consumer, fill: positionAfter(appName, page) });
  const work = page.sessions.map(({ record }) => workOnLog(record, consumer)).filter(({ upTo }) => upTo > 0);
  return { work, settings: { name, expected, next } };
}

function isLeft({ appName, isAppDone }: FillPosition, app: string): boolean {
  if (appName === undefined) return true;
  const order = compareBytes(app, appName);
  return order > 0 || (order === 0 && !isAppDone);
}

function positionAfter(appName: string, { sessions }: ListResult): FillPosition {
  const last = sessions.at(-1);
  if (!last || sessions.length < PAGE) return { appName, isAppDone: true };
  return { appName, after: positionOf(last.record, ORDER) };
}

/** Work on the dispatched events of a session. Its other events are added when the session is dispatched. */
function workOnLog(record: SessionRecord, { name, registeredAt }: RegisteredConsumer): NewWork {
  return {
    consumer: name,
    key: sessionKeyOf(record),
    incarnation: record.incarnation,
    seq: 0,
    upTo: record.waitingSince === NOTHING_WAITS ? record.lastSeq : record.dispatchedSeq,
    since: registeredAt,
  };
}
