import { oneOf } from '../config/setting.js';
import {
  type ComponentPlace,
  EMPTY_DIGEST,
  componentNameProblem,
  componentSessionOf,
  componentSessionProblem,
  digestAfter,
} from '../sessions/domain/stored/component.js';
import { InvalidInputError } from '../sessions/domain/errors/errors.js';
import { checkOptions } from '../sessions/domain/values/given-options.js';
import { type SessionKey, checkedSessionKey } from '../sessions/domain/values/ids.js';
import { assertWholeNumber, checkSetting, optionalCount } from '../sessions/domain/values/input-checks.js';
import { assertFieldNames, requireOptionsOf, requireRequest } from '../sessions/domain/values/request-fields.js';
import { type JsonLimits, jsonCopyOf } from '../sessions/domain/values/json-value.js';
import { eraseComponents } from '../sessions/operations/erase-user.js';
import { environmentBehind } from '../sessions/service-environment.js';
import type { SessionService } from '../sessions/session.service.js';
import type { ComponentStore } from '../sessions/storage/component-store.js';
import { ComponentConflictError } from './component-errors.js';
import { type ConflictPolicy, ListWriter } from './list-writer.js';

/** Which session: an id, an object that has one, or the ids of a session of `SessionService`. */
export type ComponentSessionKey = string | { toIdentifier(): string } | SessionKey;

/** A value with its version; 0 and `undefined` if nothing is saved. */
export interface Versioned<Value> {
  readonly value: Value;
  readonly version: number;
}

/** How to save. */
export interface SaveOptions {
  /** What the caller loaded; 0 if nothing was there. Default: overwrite whatever is stored. */
  readonly version?: number | undefined;
  /** Default: `fail`. */
  readonly onConflict?: Exclude<ConflictPolicy, 'append-merge'> | undefined;
}

/** How to save a list. */
export interface SaveListOptions<Item> {
  /** What the caller loaded. Default: overwrite whatever is stored. */
  readonly loaded?: Versioned<readonly Item[]> | undefined;
  /** `append-merge` keeps what others appended, and puts what is new after it. Default: `fail`. */
  readonly onConflict?: ConflictPolicy | undefined;
}

/** A store of components: JSON files, or one of your own. */
export interface ComponentStoreOptions {
  readonly store: ComponentStore;
  /** Sessions expire so long after their last save; 0 = never (default). */
  readonly ttlMs?: number | undefined;
}

/** The store of a service. */
export interface ComponentServiceOptions {
  readonly sessions: SessionService;
  /** Sessions expire so long after their last save; 0 = never. Default: as the sessions of the service. */
  readonly ttlMs?: number | undefined;
  /** Whether sessions that the service deletes take their component state along. Default: `true`. */
  readonly deleteWithSessions?: boolean | undefined;
}

/** Where a {@link ComponentSession} keeps its components. */
export type ComponentSessionOptions = ComponentStoreOptions | ComponentServiceOptions;

const MAX_PAGE = 1_000;
const LIMITS: JsonLimits = { maxDepth: 100, maxBytes: 16 * 1_024 * 1_024 };

/**
 * Saves and loads the state of components, like the memory and the plan of an agent, by session and name. A save is one
 * write of the whole value; of a list, only the items that are new at its end are written.
 *
 * @example
 * const components = new ComponentSession({ sessions }); // in the store of a SessionService, or { store } for others
 * await components.save('chat-1', 'agent', { mood: 'calm' });
 * await components.saveList('chat-1', 'messages', [...messages, reply]);
 */
export class ComponentSession {
  readonly #store: ComponentStore;
  readonly #ttlMs: number | undefined;
  readonly #lists: ListWriter;
  readonly #isOurs: boolean;

  constructor(options: ComponentSessionOptions) {
    requireOptionsOf('ComponentSession', options, 'sessions');
    const { store, ttlMs } = isBehindService(options) ? behindService(options) : checkedStore(options);
    this.#store = store;
    this.#ttlMs = ttlMs || undefined;
    this.#lists = new ListWriter(store, this.#ttlMs);
    this.#isOurs = !isBehindService(options);
    if (isBehindService(options) && options.deleteWithSessions !== false) this.#deleteOnceWith(options.sessions);
  }

  /**
   * Saves a value, and returns its version.
   *
   * @example
   * const { value, version } = await components.getVersioned<Plan>('chat-1', 'plan');
   * await components.save('chat-1', 'plan', next(value), { version }); // throws if somebody else saved meanwhile
   */
  async save(session: ComponentSessionKey, name: string, value: unknown, options: SaveOptions = {}): Promise<number> {
    assertFieldNames(requireRequest(options), { version: true, onConflict: true });
    if (options.onConflict !== undefined) checkSetting(POLICIES_OF_VALUES, options.onConflict, 'onConflict');
    const place = createComponentPlace(session, name, 'value');
    const text = serializeComponentValue(value, '$');
    const expected = optionalCount(options.version, 'version');
    const digest = digestAfter(EMPTY_DIGEST, [text]);
    const write = { place, keep: 0, keptDigest: EMPTY_DIGEST, texts: [text], digest, ttlMs: this.#ttlMs };
    const expectedVersion = options.onConflict === 'overwrite' ? undefined : expected;
    const outcome = await this.#store.write({ ...write, expectedVersion });
    if (outcome.kind === 'written') return outcome.version;
    throw new ComponentConflictError(place.session, name, expected ?? 0, outcome.version);
  }

  /**
   * Saves a list, and returns its version. If the stored items are the first ones of the list, only the others are
   * written; nothing is written if none is new. A changed item anywhere is noticed.
   *
   * @example
   * const loaded = await components.getListVersioned<Message>('chat-1', 'messages');
   * const items = [...loaded.value, message];
   * await components.saveList('chat-1', 'messages', items, { loaded, onConflict: 'append-merge' });
   */
  async saveList<Item>(
    session: ComponentSessionKey,
    name: string,
    items: readonly Item[],
    options: SaveListOptions<Item> = {},
  ): Promise<number> {
    assertFieldNames(requireRequest(options), { loaded: true, onConflict: true });
    if (options.onConflict !== undefined) checkSetting(POLICIES, options.onConflict, 'onConflict');
    const { loaded, onConflict = 'fail' } = options;
    const place = createComponentPlace(session, name, 'list');
    const texts = serializeListItems(items);
    const version = optionalCount(loaded?.version, 'loaded.version');
    const given =
      loaded && version !== undefined ? { version, texts: () => serializeListItems(loaded.value) } : undefined;
    return this.#lists.save(place, { texts, loaded: given, onConflict });
  }

  /**
   * Adds items to the end of a list, whatever others add meanwhile. Its cost does not depend on the length of the list.
   *
   * @example await components.append('chat-1', 'messages', [message]);
   */
  async append(session: ComponentSessionKey, name: string, items: readonly unknown[]): Promise<number> {
    const place = createComponentPlace(session, name, 'list');
    return this.#lists.append(place, serializeListItems(items));
  }

  /** The saved value, or `undefined`. @example const plan = await components.get<Plan>('chat-1', 'plan'); */
  async get<Value>(session: ComponentSessionKey, name: string): Promise<Value | undefined> {
    return (await this.getVersioned<Value>(session, name)).value;
  }

  /** The saved value with its version; 0 and `undefined` if there is none. */
  async getVersioned<Value>(session: ComponentSessionKey, name: string): Promise<Versioned<Value | undefined>> {
    const found = await this.#store.read(createComponentPlace(session, name, 'value'));
    const [text] = found?.texts ?? [];
    if (!found || text === undefined) return { value: undefined, version: 0 };
    return { value: JSON.parse(text) as Value, version: found.version };
  }

  /** The saved items; none if the list was never saved. */
  async getList<Item>(session: ComponentSessionKey, name: string): Promise<Item[]> {
    return [...(await this.getListVersioned<Item>(session, name)).value];
  }

  /** The saved items with their version; 0 if the list was never saved. */
  async getListVersioned<Item>(session: ComponentSessionKey, name: string): Promise<Versioned<readonly Item[]>> {
    const found = await this.#store.read(createComponentPlace(session, name, 'list'));
    if (!found) return { value: [], version: 0 };
    return { value: found.texts.map((text) => JSON.parse(text) as Item), version: found.version };
  }

  /** Whether the session has any saved state, or state of this name. */
  async exists(session: ComponentSessionKey, name?: string): Promise<boolean> {
    if (name !== undefined) checkName(name);
    const { places } = await this.#store.places(identifierOf(session));
    return name === undefined ? places.length > 0 : places.some((place) => place.name === name);
  }

  /** Deletes the session, or value and list of this name. Does nothing if there is none. */
  async delete(session: ComponentSessionKey, name?: string): Promise<void> {
    if (name !== undefined) checkName(name);
    await this.#store.remove(identifierOf(session), name);
  }

  /** The names of values and lists of a session, ordered. */
  async listNames(session: ComponentSessionKey): Promise<string[]> {
    const { places } = await this.#store.places(identifierOf(session));
    return [...new Set(places.map(({ name }) => name))].toSorted();
  }

  /**
   * A page of session ids, ordered by their bytes.
   *
   * @example for (const id of await components.listSessionKeys({ after: last, limit: 100 })) show(id);
   */
  async listSessionKeys(page: { after?: string; limit?: number } = {}): Promise<string[]> {
    assertFieldNames(requireRequest(page), { after: true, limit: true });
    const { after, limit = MAX_PAGE } = page;
    assertWholeNumber(limit, { path: 'limit', from: 1, to: MAX_PAGE });
    return this.#store.sessions({ after, limit });
  }

  /** Removes at most so many expired sessions, and returns how many. */
  async purgeExpired(limit = MAX_PAGE): Promise<number> {
    assertWholeNumber(limit, { path: 'limit', from: 1, to: 100_000 });
    return this.#store.purgeExpired(limit);
  }

  /**
   * From now on, sessions that this service deletes take their component state along, and erased users that of all their
   * sessions: what is saved under `{ appName, userId, sessionId }`. Returns a function that ends this. `ComponentsModule` calls
   * it.
   *
   * @example const end = components.deleteWith(sessions);
   */
  deleteWith({ hooks }: Pick<SessionService, 'hooks'>): () => void {
    const ends = [
      // Before: while the session lives, nobody can create another one with its id.
      hooks.onBeforeDelete(({ key }) => this.#store.remove(componentSessionOf(key))),
      hooks.onBeforeErase(({ user, components }) =>
        components === this.#store ? undefined : eraseComponents(this.#store, user),
      ),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  /** Closes the store, unless it is that of a service, which closes it itself. */
  async close(): Promise<void> {
    if (this.#isOurs) await this.#store.close?.();
  }

  /** Once for each service: a component session may be made for each request. */
  #deleteOnceWith(sessions: SessionService): void {
    if (deletesComponents.has(sessions)) return;
    deletesComponents.add(sessions);
    this.deleteWith(sessions);
  }
}

const OWNER = 'ComponentSession';

const deletesComponents = new WeakSet<SessionService>();

function isBehindService(options: ComponentSessionOptions): options is ComponentServiceOptions {
  return 'sessions' in options && options.sessions !== undefined;
}

function behindService(options: ComponentServiceOptions): ComponentStoreOptions {
  checkOptions(OWNER, options, { sessions: 'anything', ttlMs: 'count?', deleteWithSessions: 'flag?' });
  const { sessions, ttlMs } = options;
  const { storage, ttl } = environmentBehind(sessions);
  if (!storage.components) throw new InvalidInputError('keeps no components: give a store', 'sessions');
  const ofSessions = ttl.enabled ? ttl.sessionSeconds * 1_000 : 0;
  return { store: storage.components, ttlMs: ttlMs ?? ofSessions };
}

function checkedStore(options: ComponentStoreOptions): ComponentStoreOptions {
  checkOptions<ComponentStoreOptions & { readonly sessions?: undefined }>(OWNER, options, {
    store: 'anything',
    sessions: 'anything?',
    ttlMs: 'count?',
  });
  if (typeof options.store?.write === 'function') return options;
  throw new InvalidInputError('is missing: give a store, or the sessions whose store it is', 'store');
}

/** The text that identifies a session in a store. */
export function identifierOf(session: ComponentSessionKey): string {
  const id = typeof session === 'string' ? session : idOfObject(session);
  const problem = componentSessionProblem(id);
  if (problem) throw new InvalidInputError(problem, 'session');
  return id;
}

function idOfObject(session: Exclude<ComponentSessionKey, string>): string {
  if (typeof session !== 'object' || session === null) {
    throw new InvalidInputError(
      'must be an id, an object with toIdentifier(), or { appName, userId, sessionId }',
      'session',
    );
  }
  if ('toIdentifier' in session) return session.toIdentifier();
  return componentSessionOf(checkedSessionKey(session));
}

function createComponentPlace(
  session: ComponentSessionKey,
  name: string,
  kind: ComponentPlace['kind'],
): ComponentPlace {
  checkName(name);
  return { session: identifierOf(session), name, kind };
}

function checkName(name: string): void {
  const problem = componentNameProblem(name);
  if (problem) throw new InvalidInputError(problem, 'name');
}

/** What is saved of a value. Refuses what is no JSON. */
export function componentCopy(value: unknown, path: string): unknown {
  return jsonCopyOf(value, path, LIMITS);
}

function serializeComponentValue(value: unknown, path: string): string {
  return JSON.stringify(componentCopy(value, path));
}

const POLICIES = { kind: oneOf('overwrite', 'fail', 'append-merge') };
const POLICIES_OF_VALUES = { kind: oneOf('overwrite', 'fail') };

/** Refuses a misspelled option of `saveTo`, which would overwrite. */
export function policyIn(options: { readonly onConflict?: ConflictPolicy | undefined }): ConflictPolicy | undefined {
  assertFieldNames(requireRequest(options), { onConflict: true });
  if (options.onConflict !== undefined) checkSetting(POLICIES, options.onConflict, 'onConflict');
  return options.onConflict;
}

function serializeListItems(items: readonly unknown[]): string[] {
  if (!Array.isArray(items)) throw new InvalidInputError('must be an array', 'items');
  return Array.from(items, (item: unknown, index) => serializeComponentValue(item, `$[${index}]`));
}
