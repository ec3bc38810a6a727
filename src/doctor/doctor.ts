import { TTL, type TtlSettings } from '../config/session-settings.js';
import { lifetimesOf } from '../sessions/domain/expiry.js';
import {
  type SessionKey,
  type UserKey,
  assertStateOwner,
  checkedSessionKey,
  sessionKeyOf,
  sessionNameOf,
} from '../sessions/domain/ids.js';
import { assertWholeNumber, checkedSettings } from '../sessions/domain/input-checks.js';
import { InvalidInputError } from '../sessions/domain/errors.js';
import { DamagedDataError } from '../sessions/domain/stored-json.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { type Finding, finding } from './findings.js';
import { pause } from './log-pages.js';
import { ScopeCheck } from './scope-check.js';
import { type CheckEnvironment, type SessionCheck, checkSession } from './session-check.js';
import { isRepairable, repairSession } from './session-repair.js';
import { sessionsOf, usersOf } from './store-walk.js';

/** How far a check is. */
export interface DoctorProgress {
  readonly sessions: number;
  readonly events: number;
  /** Rows, keys and members of indexes. */
  readonly entries: number;
}

/** What to check, and how. */
export interface DoctorOptions {
  /** The store: in an app, what `SESSION_STORAGE` provides. */
  readonly storage: SessionStorage;
  /** Only this app; then tables, keys and indexes are not examined as a whole. */
  readonly appName?: string | undefined;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** Mend what can be mended, by appending or by rebuilding what follows from other data. Default `false`. */
  readonly repair?: boolean | undefined;
  /** The lifetimes of the settings, to find what lacks one. */
  readonly ttl?: Partial<TtlSettings> | undefined;
  /** Events, sessions or rows per request to the store: 1 to 1,000. Default 128. */
  readonly pageSize?: number | undefined;
  /** The pause between two requests, in milliseconds. Default 0. */
  readonly pauseMs?: number | undefined;
  /** Ends the check. It then throws the reason. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: DoctorProgress) => void) | undefined;
}

const DEFAULT_PAGE = 128;
const LARGEST_PAGE = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Checks a store, and hands out what is wrong. It reads every event once or twice, page by page, and holds one page and the state of
 * one session at a time. Others may use the store meanwhile.
 *
 * @example
 * for await (const { code, sessionId, detail } of checkStore({ storage })) console.log(code, sessionId, detail);
 */
export async function* checkStore(options: DoctorOptions): AsyncGenerator<Finding, void, undefined> {
  yield* new Doctor(options).findings();
}

class Doctor {
  readonly #env: CheckEnvironment;
  readonly #repair: boolean;
  readonly #options: DoctorOptions;
  #progress: DoctorProgress = { sessions: 0, events: 0, entries: 0 };
  /** Sessions to which nothing can be appended, by name. */
  readonly #notAppendable = new Set<string>();

  constructor(options: DoctorOptions) {
    const { storage, pageSize = DEFAULT_PAGE, pauseMs = 0, signal, ttl, appName, userId, sessionId } = options;
    assertWholeNumber(pageSize, { path: 'pageSize', from: 1, to: LARGEST_PAGE });
    assertWholeNumber(pauseMs, { path: 'pauseMs', from: 0, to: LONGEST_PAUSE_MS });
    if (appName === undefined && (userId !== undefined || sessionId !== undefined)) {
      throw new InvalidInputError('is needed with userId and sessionId', 'appName');
    }
    if (sessionId !== undefined) checkedSessionKey({ appName: appName ?? '', userId: userId ?? '', sessionId });
    else if (appName !== undefined) assertStateOwner({ appName, userId });
    const lifetimes = ttl && lifetimesOf(checkedSettings(TTL, ttl, 'ttl'));
    this.#env = { storage, pace: { pageSize, pauseMs, signal }, lifetimes };
    this.#repair = options.repair ?? false;
    this.#options = options;
  }

  async *findings(): AsyncGenerator<Finding, void, undefined> {
    const { appName, userId, sessionId } = this.#options;
    if (appName === undefined) {
      yield* this.#tablesAndKeys();
      for (const app of await this.#env.storage.consumers.apps()) yield* this.#app(app);
    } else if (userId === undefined) {
      yield* this.#app(appName);
    } else if (sessionId === undefined) {
      yield* this.#user({ appName, userId }, []);
    } else {
      yield* this.#session({ appName, userId, sessionId }, []);
    }
  }

  async *#tablesAndKeys(): AsyncGenerator<Finding, void, undefined> {
    const { storage, pace } = this.#env;
    let cursor: string | undefined;
    do {
      const page = await storage.audit?.({ cursor, limit: pace.pageSize, repair: this.#repair });
      for (const { isRepaired = false, ...problem } of page?.problems ?? []) {
        const { code, appName = '', userId = '', sessionId } = problem;
        if (code === 'EVENT_BEYOND_END' && sessionId !== undefined) {
          this.#notAppendable.add(sessionNameOf({ appName, userId, sessionId }));
        }
        yield finding(problem, problem, isRepaired);
      }
      this.#tell({ entries: page?.examined ?? 0 });
      cursor = page?.nextCursor;
      await pause(pace);
    } while (cursor !== undefined);
  }

  async *#app(appName: string): AsyncGenerator<Finding, void, undefined> {
    const app = new ScopeCheck({ appName });
    try {
      for await (const user of usersOf(this.#env.storage, appName, this.#env.pace)) yield* this.#user(user, [app]);
    } catch (error) {
      if (!(error instanceof DamagedDataError)) throw error;
      yield finding({ code: 'RECORD_UNREADABLE', detail: 'the sessions of the app cannot be listed' }, { appName });
      return;
    }
    yield* await app.findings(this.#env, this.#repair);
  }

  async *#user(owner: UserKey, scopes: readonly ScopeCheck[]): AsyncGenerator<Finding, void, undefined> {
    const user = new ScopeCheck(owner);
    for await (const record of sessionsOf(this.#env.storage, owner, this.#env.pace)) {
      yield* this.#session(sessionKeyOf(record), [user, ...scopes]);
    }
    yield* await user.findings(this.#env, this.#repair);
  }

  async *#session(key: SessionKey, scopes: readonly ScopeCheck[]): AsyncGenerator<Finding, void, undefined> {
    const { storage, lifetimes } = this.#env;
    const check = await this.#check(key, scopes);
    if (check instanceof DamagedDataError) {
      yield finding({ code: 'RECORD_UNREADABLE', detail: check.reason }, key);
      return;
    }
    if (!check) return;
    for (const scope of scopes) scope.met(check.stored);
    this.#tell({ sessions: 1, events: check.events });
    const isMended =
      this.#repair &&
      !this.#notAppendable.has(sessionNameOf(key)) &&
      check.notes.some((note) => isRepairable(note, check));
    if (isMended) await repairSession(storage, check, lifetimes);
    const after = isMended ? await this.#check(key, []) : check;
    const left = new Set(after instanceof DamagedDataError ? [] : after?.notes.map(({ code }) => code));
    for (const note of check.notes) {
      const repaired = isMended && isRepairable(note, check) && !left.has(note.code);
      yield finding(note, key, repaired);
    }
  }

  async #check(key: SessionKey, scopes: readonly ScopeCheck[]): Promise<SessionCheck | DamagedDataError | undefined> {
    try {
      return await checkSession(
        this.#env,
        key,
        scopes.map(({ writes }) => writes),
      );
    } catch (error) {
      if (error instanceof DamagedDataError) return error;
      throw error;
    }
  }

  #tell({ sessions = 0, events = 0, entries = 0 }: Partial<DoctorProgress>): void {
    const before = this.#progress;
    this.#progress = {
      sessions: before.sessions + sessions,
      events: before.events + events,
      entries: before.entries + entries,
    };
    this.#options.onProgress?.(this.#progress);
  }
}
