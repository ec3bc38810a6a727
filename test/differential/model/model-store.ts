import { type Entry, isSummary } from './entries.js';
import { type TtlSettings, expiryFrom, isAlive, renewIfDue } from './expiry.js';
import { type ModelMetadata, applyMetadata } from './metadata.js';
import { type ModelKey, ModelSession } from './model-session.js';
import { SharedStates } from './shared-states.js';
import { type Changes, type StateMap, changesOf, isEmpty, only, withoutPrefix } from './state.js';

/** All stored data with its expiry. */
export class ModelStore {
  readonly users: SharedStates;
  readonly apps: SharedStates;
  readonly #sessions = new Map<string, ModelSession>();

  constructor(
    private readonly ttl: TtlSettings,
    private readonly clock: { now(): number },
  ) {
    this.users = new SharedStates(ttl, ttl.userStateSeconds);
    this.apps = new SharedStates(ttl, ttl.appStateSeconds);
  }

  create(
    key: ModelKey,
    initial: Changes,
    metadata: ModelMetadata,
    { log = [], turnsOnly = false }: { readonly log?: readonly Entry[]; readonly turnsOnly?: boolean | undefined } = {},
  ): ModelSession {
    const now = this.clock.now();
    const expiry = expiryFrom(now, this.ttl, this.ttl.sessionSeconds);
    const session = new ModelSession(key, initial, now, expiry, metadata, turnsOnly);
    session.log.push(...log);
    this.#sessions.set(textOf(key), session);
    this.#renewShared(session);
    this.#writeShared(key, initial);
    return session;
  }

  delete(key: ModelKey): void {
    this.#sessions.delete(textOf(key));
  }

  purge(): { sessions: number; userStates: number; appStates: number } {
    const now = this.clock.now();
    const expired = [...this.#sessions].filter(([, session]) => !isAlive(session, now));
    for (const [key] of expired) this.#sessions.delete(key);
    return { sessions: expired.length, userStates: this.users.purge(now), appStates: this.apps.purge(now) };
  }

  live(key: ModelKey): ModelSession | undefined {
    const session = this.#sessions.get(textOf(key));
    return session && isAlive(session, this.clock.now()) ? session : undefined;
  }

  all(): ModelSession[] {
    return [...this.#sessions.values()];
  }

  /** The expiry times of all stored data and turns. */
  expiries(): number[] {
    const sessions = this.all().map(({ expiresAt }) => expiresAt);
    const turns = this.all().flatMap(({ turn }) => (turn ? [turn.expiresAt] : []));
    return [...sessions, ...turns, ...this.users.expiries(), ...this.apps.expiries()];
  }

  /** The number of stored items. */
  sizes(): { sessions: number; events: number; stateEntries: number } {
    const sessions = this.all();
    const ownKeys = sessions.reduce((count, session) => count + session.state().size, 0);
    return {
      sessions: sessions.length,
      events: sessions.reduce((count, { lastSeq }) => count + lastSeq, 0),
      stateEntries: ownKeys + this.users.keyCount() + this.apps.keyCount(),
    };
  }

  /** The state of all scopes, with prefixed keys. */
  stateOf(session: ModelSession): StateMap {
    const now = this.clock.now();
    const { appName, userId } = session.key;
    return new Map([
      ...session.state(),
      ...[...this.users.read(textOf([appName, userId]), now)].map(([key, value]) => [`user:${key}`, value] as const),
      ...[...this.apps.read(textOf([appName]), now)].map(([key, value]) => [`app:${key}`, value] as const),
    ]);
  }

  commit(session: ModelSession, entry: Entry): void {
    session.log.push(entry);
    applyMetadata(session.metadata, entry.event.actions?.metadataDelta);
    if (isSummary(entry)) return;
    session.lastUpdateTime = Math.max(session.lastUpdateTime, entry.appendedAt);
    session.expiresAt = expiryFrom(entry.appendedAt, this.ttl, this.ttl.sessionSeconds);
    this.#renewShared(session);
    this.#writeShared(session.key, changesOf(entry.event.actions));
  }

  renew(session: ModelSession): void {
    renewIfDue(session, this.clock.now(), this.ttl, this.ttl.sessionSeconds);
    this.#renewShared(session);
  }

  #renewShared({ key: { appName, userId } }: ModelSession): void {
    this.users.renew(textOf([appName, userId]), this.clock.now());
    this.apps.renew(textOf([appName]), this.clock.now());
  }

  #writeShared({ appName, userId }: ModelKey, changes: Changes): void {
    const now = this.clock.now();
    const user = withoutPrefix(only(changes, 'user'));
    const app = withoutPrefix(only(changes, 'app'));
    if (!isEmpty(user)) this.users.write(textOf([appName, userId]), user, now);
    if (!isEmpty(app)) this.apps.write(textOf([appName]), app, now);
  }
}

export function textOf(key: ModelKey | readonly string[]): string {
  return JSON.stringify('appName' in key ? [key.appName, key.userId, key.sessionId] : key);
}
