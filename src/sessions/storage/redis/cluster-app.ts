import { StoreUnavailableError } from '../../domain/errors.js';
import { type Lifetime, NEVER } from '../../domain/expiry.js';
import type { SessionKey, StateOwner, UserKey } from '../../domain/ids.js';
import type { StateWrites } from '../../domain/scope-writes.js';
import type { ListRequest, ListResult } from '../session-storage.js';
import type { AppScope, LeftWork, ListPage } from './app-scope.js';
import { beforeAnswer } from './driver-errors.js';
import { listOfApp } from './list-of-app.js';
import { type PendingWork, pendingArguments, pendingText, pendingWork } from './pending-work.js';
import { forgetUser } from './purge-expired.js';
import type { RedisKeys } from './redis-keys.js';
import { RenewalTimes } from './renewal-times.js';
import { type ScriptArguments, optional } from './script-arguments.js';
import type { NumberReply, ScriptRunner } from './script-runner.js';
import { APPLY_APP_WRITES, CLEAR_PENDING, REGISTER } from './scripts/app-writes.js';
import { TOUCH_STATE } from './scripts/shared-state-scripts.js';
import type { SharedState } from './session-replies.js';
import { readSharedState } from './shared-state.js';

/** What a process knows of apps from one call to the next. */
export class AppMemory {
  readonly renewals = new RenewalTimes();
  /** Until when this process has made each app known. */
  readonly knownApps = new Map<string, number>();
}

/**
 * On a cluster an app lies in another slot than its users. The script of a session leaves as pending what is
 * to be written there; whoever meets that does it, with a script that does each thing once, and only then
 * acknowledges its own work.
 */
export class ClusterApp implements AppScope {
  constructor(
    private readonly connection: ScriptRunner,
    private readonly keys: RedisKeys,
    private readonly memory: AppMemory,
  ) {}

  sessionKeys(key: SessionKey): string[] {
    return this.keys.ofSession(key);
  }

  writeArguments(writes: StateWrites, lifetime: Lifetime | undefined): ScriptArguments {
    return [pendingText(writes, lifetime)];
  }

  async finish({ key, incarnation, pending, seenAt }: LeftWork): Promise<void> {
    if (pending.length === 0) return;
    const work = pendingWork(pending);
    await this.#apply(key, incarnation, work, seenAt);
    await this.connection.write(CLEAR_PENDING, { keys: [this.keys.pendingOf(key)], args: [...pending] });
  }

  async stateOf(appName: string): Promise<SharedState> {
    return readSharedState(this.connection, this.keys.stateOf({ appName }));
  }

  async renewIfDue(appName: string, renew: Lifetime, now: number): Promise<void> {
    if (renew.ttlMs >= NEVER || !this.memory.renewals.mayBeDue(appName, now)) return;
    const stateKey = this.keys.stateOf({ appName });
    const state = await readSharedState(this.connection, stateKey, { renew, withEntries: false });
    this.memory.renewals.note(appName, renew, state);
  }

  async touch(appName: string, { ttlMs }: Lifetime): Promise<void> {
    await this.connection.write(TOUCH_STATE, { keys: [this.keys.stateOf({ appName })], args: [ttlMs] });
  }

  async register({ appName, userId }: StateOwner, due: number): Promise<void> {
    if (userId !== undefined) {
      await this.connection.write(REGISTER, { keys: [this.keys.usersOf(appName)], args: ['', userId, due, due] });
    }
    await this.#registerApp(appName, due);
  }

  async forget(owner: UserKey): Promise<void> {
    await forgetUser(this.connection, this.keys, owner);
  }

  async complete(appName: string, { result, left }: ListPage): Promise<ListResult> {
    for (const work of left) await beforeAnswer(() => this.finish(work));
    if (result.sessions.length === 0) return result;
    const { entries: app } = await this.stateOf(appName);
    const sessions = result.sessions.map(({ record, state }) => ({ record, state: { ...state, app } }));
    return { ...result, sessions };
  }

  async listApp(request: ListRequest): Promise<ListResult> {
    return this.complete(request.appName, await listOfApp(this.connection, this.keys, request));
  }

  registryKeys(): string[] {
    return [];
  }

  listKeys(): string[] {
    return [];
  }

  indexKeys(): string[] {
    return [];
  }

  async #apply({ appName, userId }: SessionKey, incarnation: string, work: PendingWork, seenAt: string): Promise<void> {
    const { registration } = work;
    const [isDone, due] = await this.connection.write<[isDone: NumberReply, due: string | null]>(APPLY_APP_WRITES, {
      keys: [this.keys.stateOf({ appName }), this.keys.usersOf(appName), this.keys.applied(appName, incarnation)],
      args: [userId, optional(registration?.due), optional(registration?.until), seenAt, ...pendingArguments(work)],
    });
    if (!Number(isDone)) throw new StoreUnavailableError('Work on the state of the app was held up too long.', true);
    const until = Math.max(registration?.until ?? 0, due === null ? 0 : Number(due));
    if (until > 0) await this.#registerApp(appName, until);
  }

  /** Apps are few and there for long, so each process does this once in a while. */
  async #registerApp(appName: string, until: number): Promise<void> {
    if ((this.memory.knownApps.get(appName) ?? 0) >= until) return;
    await this.connection.write(REGISTER, { keys: [this.keys.apps], args: [appName, until] });
    this.memory.knownApps.set(appName, until);
  }
}
