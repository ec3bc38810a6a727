import { callWithin } from './domain/process/timeouts.js';
import { digestOf } from './domain/values/json-digest.js';
import { EventConflictError, SessionNotFoundError, StaleSessionError, TurnHeldError } from './domain/errors/errors.js';
import { isByUser, isFinalResponse, isRewind, isSummary } from './domain/event/event-inspection.js';
import { forwardedAbort } from './domain/process/forwarded-abort.js';
import { type SessionKey, sessionNameOf } from './domain/values/ids.js';
import { checkOptions } from './domain/values/given-options.js';
import { requireOptionsOf } from './domain/values/request-fields.js';
import { RESERVED } from './domain/values/reserved-words.js';
import type { Session } from './domain/session/session.js';
import { withLease } from './leases/with-lease.js';
import type { AfterAppend } from './session-hooks.js';
import { environmentBehind } from './service-environment.js';
import type { SessionService } from './session.service.js';
import type { TurnReference } from './operations/turns.js';
import type { LeaseStore } from './storage/coordination.js';

/** The id of the event with the title. Ids are unique, so a session gets at most one such event. */
const TITLE_EVENT = RESERVED.ids.title;
/** The titler is called after the first turn and, if there is no title yet, after the next turns. */
const MAX_TURNS = 3;
/** How long other instances wait after a crash of this process. */
const LEASE_MS = 30_000;
const DEFAULT_TIMEOUT_MS = 30_000;

/** The request to a {@link SessionTitler}. */
export interface TitleRequest {
  /** The session with its view of the conversation. It has no title. */
  readonly session: Session;
  /** Aborted after the time limit, and when the app closes. */
  readonly signal: AbortSignal;
}

/**
 * Names sessions after their first turn.
 *
 * @example
 * const titler: SessionTitler = { titleOf: ({ session }) => session.events[0]?.content?.parts?.[0]?.text?.slice(0, 60) };
 */
export interface SessionTitler {
  /** Returns a title, or `undefined` to be called again after the next turn. A failure is logged. */
  titleOf(request: TitleRequest): string | undefined | Promise<string | undefined>;
}

/** The parts of {@link SessionTitles}. */
export interface SessionTitlesOptions {
  readonly sessions: SessionService;
  readonly titler: SessionTitler;
  /** Time limit of a call. Default: 30 seconds. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Gives sessions a title, in the background after an append. One instance at a time calls the titler for a session, and
 * writes the title only if the session still has none. `SessionsModule` does this with its option `titler`.
 *
 * @example
 * const titles = new SessionTitles({ sessions, titler });
 * titles.start();
 */
export class SessionTitles {
  readonly #running = new Set<string>();
  readonly #closing = new AbortController();
  #unregister: () => void = () => undefined;

  readonly #leases: LeaseStore;

  constructor(private readonly options: SessionTitlesOptions) {
    this.#leases = environmentBehind(
      requireOptionsOf('SessionTitles', options, 'sessions, titler').sessions,
    ).storage.leases;
    checkOptions('SessionTitles', options, { sessions: 'object', titler: 'object', timeoutMs: 'count?' });
  }

  /**
   * Watches appends from now on.
   * @example titles.start();
   */
  start(): void {
    this.#unregister();
    this.#unregister = this.options.sessions.hooks.onAfterAppend((append) => this.#onAppend(append));
  }

  /**
   * Stops, and aborts running calls. These sessions may get their title after their next turn.
   * @example titles.stop();
   */
  stop(): void {
    this.#unregister();
    this.#closing.abort(new Error('the app is closing'));
  }

  async #onAppend({ key, event, record }: AfterAppend): Promise<void> {
    const { turns } = record.counters;
    if (turns === 0 || turns > MAX_TURNS || !isAnswer(event)) return;
    const name = sessionNameOf(key);
    if (this.#running.has(name)) return;
    this.#running.add(name);
    try {
      const lease = { leases: this.#leases, name: `session-title:${digestOf(name)}`, ttlMs: LEASE_MS };
      await withLease(lease, async ({ signal }) => this.#giveTitle(key, record.turnsOnly, signal));
    } catch (error) {
      if (!this.#closing.signal.aborted) throw error;
    } finally {
      this.#running.delete(name);
    }
  }

  async #giveTitle(key: SessionKey, turnsOnly: boolean, leaseLost: AbortSignal): Promise<void> {
    const session = await this.options.sessions.getSession(key);
    if (session?.metadata.title !== undefined) return;
    const title = session && (await this.#ask(session, leaseLost))?.trim();
    if (!title) return;
    try {
      if (turnsOnly) {
        await this.options.sessions.withTurn({ ...key, holder: TITLE_EVENT }, (turn) => this.#write(key, title, turn));
      } else {
        await this.#write(key, title);
      }
    } catch (error) {
      if (!isGivenUp(error)) throw error;
    }
  }

  async #ask(session: Session, leaseLost: AbortSignal): Promise<string | undefined> {
    const { titler, timeoutMs: limitMs = DEFAULT_TIMEOUT_MS } = this.options;
    const outer = forwardedAbort([this.#closing.signal, leaseLost]);
    const limits = { limitMs, signal: outer.signal, timeoutError: timedOut };
    return callWithin(limits, (signal) => titler.titleOf({ session, signal })).finally(outer.release);
  }

  /** Unless a title was written in the meantime. */
  async #write(key: SessionKey, title: string, turn?: TurnReference): Promise<void> {
    const event = { id: TITLE_EVENT, author: 'system', actions: { metadataDelta: { title } } };
    await this.options.sessions.change({ ...key, config: { numRecentEvents: 0 }, turn }, ({ metadata }) =>
      metadata.title === undefined ? [event] : [],
    );
  }
}

function timedOut(limitMs: number): Error {
  return new DOMException(`The titler did not answer within ${limitMs} ms.`, 'TimeoutError');
}

/** Whether the event ends a turn: a final response of an agent. */
function isAnswer(event: AfterAppend['event']): boolean {
  const isOfAgent = !isByUser(event) && event.author?.toLowerCase() !== 'system';
  return isOfAgent && isFinalResponse(event) && !isSummary(event) && !isRewind(event);
}

/** The session is gone, another writer holds its turn or always comes first, or its title was removed. */
function isGivenUp(error: unknown): boolean {
  const kinds = [SessionNotFoundError, TurnHeldError, EventConflictError, StaleSessionError];
  return kinds.some((kind) => error instanceof kind);
}
