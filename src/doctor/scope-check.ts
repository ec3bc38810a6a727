import type { StateOwner } from '../sessions/domain/values/ids.js';
import type { SessionStorage, StoredSession } from '../sessions/storage/session-storage.js';
import { type Finding, finding } from './findings.js';
import { type CheckEnvironment, expiryNotes } from './session-check.js';
import { excessNote, isExcess, readSharedForCheck } from './state-excess.js';
import { setLifetime } from './session-repair.js';
import { SharedWrites } from './shared-writes.js';

/**
 * Checks the state of a user or an app, once all of its sessions are checked.
 *
 * @example
 * const scope = new ScopeCheck({ appName: 'shop', userId: 'ann' });
 * for (const key of keys) scope.met((await checkSession(env, key, [scope.writes])).stored);
 * await scope.findings(env, false);
 */
export class ScopeCheck {
  readonly writes: SharedWrites;
  /** When the check began, by the store's clock. */
  #startedAt: number | undefined;
  /** A session through which the scope is reached. */
  #session: StoredSession | undefined;

  constructor(private readonly owner: StateOwner) {
    this.writes = new SharedWrites(this.#scope);
  }

  met(session: StoredSession): void {
    this.#startedAt ??= session.now;
    this.#session = session;
    this.writes.addSession(session.record);
  }

  async findings(env: CheckEnvironment, repair: boolean): Promise<Finding[]> {
    const entries = await readSharedForCheck(env, this.owner);
    const size = isExcess(entries) ? [finding(excessNote(entries, this.owner), this.owner)] : [];
    if (!this.#session) return size;
    const notes = isExcess(entries) ? [] : this.writes.notes(entries);
    const unexplained = notes.length > 0 && !(await this.#isBusy(env.storage)) ? notes : [];
    const expiry = expiryNotes(this.#scope, this.#session.scopeExpiry?.[this.#scope], env.lifetimes);
    const isMended = repair && expiry.length > 0 && (await this.#setLifetime(env, this.#session));
    return [
      ...size,
      ...unexplained.map((note) => finding(note, this.owner)),
      ...expiry.map((note) => finding(note, this.owner, isMended)),
    ];
  }

  get #scope(): 'user' | 'app' {
    return this.owner.userId === undefined ? 'app' : 'user';
  }

  /** Whether a session of the owner was written since the check began. */
  async #isBusy(storage: SessionStorage): Promise<boolean> {
    const newest = { orderBy: 'lastUpdateTime', order: 'desc', limit: 1, withState: false } as const;
    const { sessions } = await storage.list({ ...this.owner, ...newest });
    return (sessions[0]?.record.lastUpdateTime ?? 0) > (this.#startedAt ?? 0);
  }

  async #setLifetime({ storage, lifetimes }: CheckEnvironment, { record }: StoredSession): Promise<boolean> {
    if (!lifetimes) return false;
    await setLifetime(storage, record, { [this.#scope]: lifetimes[this.#scope] });
    return true;
  }
}
