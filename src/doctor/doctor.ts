import { LIMITS, type SessionLimits, TTL, type TtlSettings } from '../config/session-settings.js';
import { EncryptionError } from '../sessions/domain/errors/encryption-errors.js';
import { type OptionKinds, checkOptions } from '../sessions/domain/values/given-options.js';
import { lifetimesOf } from '../sessions/domain/values/expiry.js';
import {
  type SessionKey,
  type StateOwner,
  type UserKey,
  assertStateOwner,
  checkedSessionKey,
  sessionKeyOf,
  sessionNameOf,
} from '../sessions/domain/values/ids.js';
import { assertWholeNumber, checkedSettings } from '../sessions/domain/values/input-checks.js';
import { InvalidInputError } from '../sessions/domain/errors/errors.js';
import { stateLimitsOf } from '../sessions/domain/stored/state-size.js';
import { DamagedDataError } from '../sessions/domain/stored/stored-json.js';
import { EncryptedStorage } from '../sessions/encryption/encrypted-storage.js';
import { findEnvironment } from '../sessions/service-environment.js';
import type { SessionService } from '../sessions/session.service.js';
import { storageOf } from '../sessions/storage-source.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { type Finding, type Note, encryptionNote, finding } from './findings.js';
import { pause } from './log-pages.js';
import { ScopeCheck } from './scope-check.js';
import { type CheckEnvironment, type SessionCheck, checkSession } from './session-check.js';
import { isRepairable, repairSession } from './session-repair.js';
import { excessNote, isExcess, readSharedForCheck } from './state-excess.js';
import { walkSessions, listUsersWithSessions } from './store-walk.js';
import { TextCheck } from './text-check.js';

/** How far a check is. */
export interface DoctorProgress {
  readonly sessions: number;
  readonly events: number;
  /** Rows, keys and members of indexes. */
  readonly entries: number;
}

/** Which store: that of a service, or in an app what `SESSION_STORAGE` provides. */
export type CheckedStore = { readonly sessions: SessionService } | { readonly storage: SessionStorage };

/** What to check, and how. */
export interface DoctorSettings {
  /** Only this app; then tables, keys and indexes are not examined as a whole. */
  readonly appName?: string | undefined;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** Mend what can be mended, by appending or by rebuilding what follows from other data. Default `false`. */
  readonly repair?: boolean | undefined;
  /** The lifetimes of the settings, to find what lacks one. Default: those of the service, if one is given. */
  readonly ttl?: Partial<TtlSettings> | undefined;
  /** The limits of the settings, to find state that is larger. Default: those of the service, or else the usual ones. */
  readonly limits?: Partial<SessionLimits> | undefined;
  /** Events, sessions or rows per request to the store: 1 to 1,000. Default 128. */
  readonly pageSize?: number | undefined;
  /** The pause between two requests, in milliseconds. Default 0. */
  readonly pauseMs?: number | undefined;
  /** Ends the check. It then throws the reason. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: DoctorProgress) => void) | undefined;
}

/** The store to check, and how. */
export type DoctorOptions = CheckedStore & DoctorSettings;

type CheckedOptions = DoctorSettings & { readonly sessions?: unknown; readonly storage?: unknown };

/** Ids and numbers may come from a request, and are checked as those of requests. */
const KINDS: OptionKinds<CheckedOptions> = {
  sessions: 'anything?',
  storage: 'anything?',
  appName: 'anything?',
  userId: 'anything?',
  sessionId: 'anything?',
  repair: 'flag?',
  ttl: 'object?',
  limits: 'object?',
  pageSize: 'anything?',
  pauseMs: 'anything?',
  signal: 'object?',
  onProgress: 'function?',
};
const DEFAULT_PAGE = 128;
const LARGEST_PAGE = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** @throws InvalidInputError */
export function assertPause(pauseMs: number): void {
  assertWholeNumber(pauseMs, { path: 'pauseMs', from: 0, to: LONGEST_PAUSE_MS });
}

/**
 * Checks a store, and hands out what is wrong. It reads every event once or twice, page by page, and holds one page and the state of
 * one session at a time. Others may use the store meanwhile.
 *
 * @example
 * for await (const { code, sessionId, detail } of checkStore({ sessions })) console.log(code, sessionId, detail);
 */
export async function* checkStore(options: DoctorOptions): AsyncGenerator<Finding, void, undefined> {
  yield* new Doctor(options).findings();
}

class Doctor {
  readonly #env: CheckEnvironment;
  /** The store for lists and tables, as it is: a text that cannot be opened fails no page of them. */
  readonly #walked: SessionStorage;
  /** Of an encrypted store. */
  readonly #texts: TextCheck | undefined;
  readonly #repair: boolean;
  readonly #options: DoctorOptions;
  #progress: DoctorProgress = { sessions: 0, events: 0, entries: 0 };
  /** Sessions of which the record cannot be read, by name: those that were reported, and those that wait for that. */
  readonly #unreadable = new Map<string, SessionKey | 'reported'>();
  /** Sessions to which nothing can be appended, by name. */
  readonly #notAppendable = new Set<string>();

  constructor(options: DoctorOptions) {
    checkOptions<CheckedOptions>('checkStore', options, KINDS);
    const { pageSize = DEFAULT_PAGE, pauseMs = 0, signal, appName, userId, sessionId } = options;
    const source = 'sessions' in options ? options.sessions : options.storage;
    const storage = storageOf(source);
    const environment = findEnvironment(source);
    const ttl = options.ttl ?? environment?.ttl;
    const limits = checkedSettings(LIMITS, options.limits ?? environment?.limits, 'limits');
    assertWholeNumber(pageSize, { path: 'pageSize', from: 1, to: LARGEST_PAGE });
    assertPause(pauseMs);
    if (appName === undefined && (userId !== undefined || sessionId !== undefined)) {
      throw new InvalidInputError('is needed with userId and sessionId', 'appName');
    }
    if (sessionId !== undefined) checkedSessionKey({ appName: appName ?? '', userId: userId ?? '', sessionId });
    else if (appName !== undefined) assertStateOwner({ appName, userId });
    const lifetimes = ttl && lifetimesOf(checkedSettings(TTL, ttl, 'ttl'));
    this.#env = { storage, pace: { pageSize, pauseMs, signal }, stateLimits: stateLimitsOf(limits), lifetimes };
    const isEncrypted = storage instanceof EncryptedStorage;
    this.#walked = isEncrypted ? storage.stored : storage;
    this.#texts = isEncrypted ? new TextCheck(this.#env, storage) : undefined;
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
      yield* await this.#scopeSize({ appName });
    } else {
      yield* this.#session({ appName, userId, sessionId }, []);
      yield* await this.#scopeSize({ appName, userId });
      yield* await this.#scopeSize({ appName });
    }
    for (const note of this.#texts?.left() ?? []) yield finding(note, { appName, userId, sessionId });
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
        if (code === 'RECORD_UNREADABLE' && sessionId !== undefined) {
          this.#unreadable.set(sessionNameOf({ appName, userId, sessionId }), 'reported');
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
    for await (const user of listUsersWithSessions(this.#walked, appName, this.#env.pace, this.#onDamaged)) {
      yield* this.#user(user, [app]);
    }
    yield* this.#unreadableSessions();
    yield* await this.#scope({ appName }, app);
  }

  async *#user(owner: UserKey, scopes: readonly ScopeCheck[]): AsyncGenerator<Finding, void, undefined> {
    const user = new ScopeCheck(owner);
    for await (const record of walkSessions(this.#walked, owner, this.#env.pace, this.#onDamaged)) {
      yield* this.#session(sessionKeyOf(record), [user, ...scopes]);
    }
    yield* this.#unreadableSessions();
    yield* await this.#scope(owner, user);
  }

  readonly #onDamaged = (key: SessionKey): void => {
    const name = sessionNameOf(key);
    if (!this.#unreadable.has(name)) this.#unreadable.set(name, key);
  };

  /** Those that a list has named, and no check of them. */
  *#unreadableSessions(): Generator<Finding, void, undefined> {
    for (const [name, key] of this.#unreadable) {
      if (key !== 'reported') yield finding({ code: 'RECORD_UNREADABLE', detail: 'the record is damaged' }, key);
      this.#unreadable.set(name, 'reported');
    }
  }

  #scope(owner: StateOwner, scope: ScopeCheck): Promise<readonly Finding[]> {
    return this.#checkScope(owner, () => scope.findings(this.#env, this.#repair));
  }

  /** If the state that sessions are read with is too large, they are not compared with it. */
  #scopeSize(owner: StateOwner): Promise<readonly Finding[]> {
    return this.#checkScope(owner, async () => {
      const read = await readSharedForCheck(this.#env, owner);
      return isExcess(read) ? [finding(excessNote(read, owner), owner)] : [];
    });
  }

  async #checkScope(owner: StateOwner, check: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
    try {
      const notes = (await this.#texts?.scope(owner)) ?? [];
      return notes.length > 0 ? notes.map((note) => finding(note, owner)) : await check();
    } catch (error) {
      return [finding(noteOfUnreadable(error), owner)];
    }
  }

  async *#session(key: SessionKey, scopes: readonly ScopeCheck[]): AsyncGenerator<Finding, void, undefined> {
    let isOpen = true;
    for await (const note of this.#texts?.session(key) ?? []) {
      isOpen = false;
      yield finding(note, key);
    }
    // What follows from texts is known with all of them only, and nothing of it is mended.
    if (isOpen) yield* this.#compared(key, scopes);
    else this.#tell({ sessions: 1 });
  }

  async *#compared(key: SessionKey, scopes: readonly ScopeCheck[]): AsyncGenerator<Finding, void, undefined> {
    const check = await this.#check(key, scopes);
    if (isNote(check)) {
      const name = sessionNameOf(key);
      const isKnown = check.code === 'RECORD_UNREADABLE' && this.#unreadable.get(name) === 'reported';
      if (check.code === 'RECORD_UNREADABLE') this.#unreadable.set(name, 'reported');
      if (!isKnown) yield finding(check, key);
      return;
    }
    if (!check) return;
    for (const scope of scopes) scope.met(check.stored);
    this.#tell({ sessions: 1, events: check.events });
    const isMended =
      this.#repair &&
      !this.#notAppendable.has(sessionNameOf(key)) &&
      check.notes.some((note) => isRepairable(note, check));
    if (isMended) await this.#mend(key, check);
    const after = isMended ? await this.#check(key, []) : check;
    const left = new Set(isNote(after) ? [] : after?.notes.map(({ code }) => code));
    for (const note of check.notes) {
      const repaired = isMended && isRepairable(note, check) && !left.has(note.code);
      yield finding(note, key, repaired);
    }
  }

  async #mend(key: SessionKey, check: SessionCheck): Promise<void> {
    const { storage, lifetimes } = this.#env;
    await repairSession(storage, check, lifetimes);
    if (!check.texts) return;
    // Now something follows from the log.
    const after = await this.#check(key, []);
    if (after && !isNote(after)) await repairSession(storage, after, lifetimes);
  }

  /** What the check of a session found; or a note if it could not be checked, which harms the check of no other. */
  async #check(key: SessionKey, scopes: readonly ScopeCheck[]): Promise<SessionCheck | Note | undefined> {
    try {
      return await checkSession(
        this.#env,
        key,
        scopes.map(({ writes }) => writes),
      );
    } catch (error) {
      // A fault of the code, on data that it does not expect. Its message may quote them.
      if (error instanceof TypeError || error instanceof RangeError) {
        return { code: 'SESSION_UNREADABLE', detail: `the check of the session failed with a ${error.name}` };
      }
      return noteOfUnreadable(error);
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

/** Says why something cannot be read. Throws other errors. */
function noteOfUnreadable(error: unknown): Note {
  if (error instanceof DamagedDataError) return { code: 'RECORD_UNREADABLE', detail: error.reason };
  if (error instanceof EncryptionError) return encryptionNote(error);
  throw error;
}

function isNote(check: SessionCheck | Note | undefined): check is Note {
  return check !== undefined && 'code' in check;
}
