import type { SessionLimits } from '../../../config/session-settings.js';
import type { StoredScope } from '../../../state/scopes.js';
import { LimitExceededError } from '../errors/errors.js';

/** The most bytes of state that each scope may have. */
export type StateLimits = Readonly<Record<StoredScope, number>>;

/** Keys to set and to remove, of any scope. */
interface Writes {
  readonly upserts: readonly { readonly scope: StoredScope; readonly name: string; readonly value: string }[];
  readonly removals: readonly { readonly scope: StoredScope; readonly name: string }[];
}

/** The setting of each scope. */
const SETTINGS = {
  session: 'maxSessionStateBytes',
  user: 'maxUserStateBytes',
  app: 'maxAppStateBytes',
} as const satisfies Record<StoredScope, keyof SessionLimits>;

/** What `limits` means for stores. */
export function stateLimitsOf(limits: SessionLimits): StateLimits {
  return { session: limits[SETTINGS.session], user: limits[SETTINGS.user], app: limits[SETTINGS.app] };
}

/** A size that nobody has counted yet: state that an older version wrote. */
export const UNCOUNTED = Number.MAX_SAFE_INTEGER;

/**
 * The bytes of a key, without its prefix, and of its value as JSON, in UTF-8.
 * @example const bytes = entryBytes('step', '1'); // 5
 */
export function entryBytes(name: string, value: string): number {
  return Buffer.byteLength(name) + Buffer.byteLength(value);
}

/**
 * How large the state of one scope is. A store keeps `atMost`, which is at least the real size, so that a write need not look at
 * the values that it replaces. Only when the limit could be passed, it counts all of the state, and the size is exact.
 */
export interface StateSize {
  readonly atMost: number;
  /** If all was counted: the bytes of the entries that are written, or of all. */
  readonly entries?: ReadonlyMap<string, number> | undefined;
}

/**
 * The size of state that is there as a whole.
 * @example const { atMost } = countedSize([['step', '1']]); // 5: 'step' and '1'
 */
export function countedSize(state: Iterable<readonly [name: string, value: string]>): Required<StateSize> {
  const entries = new Map<string, number>();
  let atMost = 0;
  for (const [name, value] of state) {
    const bytes = entryBytes(name, value);
    entries.set(name, bytes);
    atMost += bytes;
  }
  return { atMost, entries };
}

/**
 * The size after the writes to one scope.
 * @example const size = sizeAfter({ atMost: record.stateBytes }, commit, 'session');
 */
export function sizeAfter(size: StateSize, writes: Writes, scope: StoredScope): StateSize {
  const atMost = bytesAfter(size, writes, scope);
  if (!size.entries) return { atMost };
  const entries = new Map(size.entries);
  for (const { scope: ofIt, name, value } of writes.upserts)
    if (ofIt === scope) entries.set(name, entryBytes(name, value));
  for (const { scope: ofIt, name } of writes.removals) if (ofIt === scope) entries.delete(name);
  return { atMost, entries };
}

/**
 * The bytes after the writes to one scope, of which each sets or removes another key.
 * @example const stateBytes = bytesAfter({ atMost: record.stateBytes }, commit, 'session');
 */
export function bytesAfter({ atMost, entries }: StateSize, { upserts, removals }: Writes, scope: StoredScope): number {
  let bytes = atMost;
  for (const { scope: ofIt, name, value } of upserts) {
    if (ofIt === scope) bytes += entryBytes(name, value) - (entries?.get(name) ?? 0);
  }
  for (const { scope: ofIt, name } of removals) if (ofIt === scope) bytes -= entries?.get(name) ?? 0;
  return Math.min(bytes, UNCOUNTED);
}

/** A scope with more state than it may have. */
export interface StateExcess {
  readonly scope: StoredScope;
  readonly bytes: number;
  readonly most: number;
}

/**
 * Whether a write leaves a scope with more than it may have. State that is too large already may become smaller. If the size is not
 * exact, the store counts and asks again.
 *
 * @example
 * let size: StateSize = { atMost: record.stateBytes };
 * if (stateExcess('session', size, commit, limits)) size = await this.count(commit);
 * const excess = stateExcess('session', size, commit, limits);
 * if (excess) return { kind: 'stateFull', excess };
 */
export function stateExcess(
  scope: StoredScope,
  size: StateSize,
  writes: Writes,
  limits: StateLimits | undefined,
): StateExcess | undefined {
  if (!limits || !writes.upserts.some((upsert) => upsert.scope === scope)) return undefined;
  const bytes = bytesAfter(size, writes, scope);
  const most = limits[scope];
  const isRefused = size.entries ? bytes > Math.max(most, size.atMost) : bytes > most;
  return isRefused ? { scope, bytes, most } : undefined;
}

/**
 * Whether state is too large to be loaded. If the size is not exact, the store counts and asks again.
 * @example const excess = readExcess('user', { atMost: row.stateBytes }, limits);
 */
export function readExcess(
  scope: StoredScope,
  { atMost: bytes }: StateSize,
  limits: StateLimits | undefined,
): StateExcess | undefined {
  const most = limits?.[scope] ?? Infinity;
  return bytes > most ? { scope, bytes, most } : undefined;
}

/**
 * Follows the size of state that is built from events, and refuses it before it fills the memory. Between two commits it can be more
 * than a scope may have: a batch passes a limit in between, and other sessions removed what this one gave to shared scopes.
 */
export class BuiltSize {
  readonly #most: number;
  #atMost: number;

  constructor(limits: StateLimits | undefined, bytes: number) {
    this.#most = limits ? 2 * (limits.session + limits.user + limits.app) : Infinity;
    this.#atMost = bytes;
  }

  /** The same, and returns whether the state is small enough. */
  fits(bytes: number, count: () => number): boolean {
    this.#atMost += bytes;
    if (this.#atMost > this.#most) this.#atMost = count();
    return this.#atMost <= this.#most;
  }

  /**
   * Adds what an event may have added. Throws if the state is too large.
   *
   * @param count the bytes of all that was built; called only if there may be too many
   */
  add(bytes: number, count: () => number): void {
    if (this.fits(bytes, count)) return;
    throw new LimitExceededError(
      `The state that events of this session build has ${this.#atMost} bytes, too many to load; at most ${this.#most} are allowed, ` +
        `twice what limits.${Object.values(SETTINGS).join(', limits.')} allow together.`,
    );
  }
}

/** The session, the user or the app, as messages name it. */
interface OwnerOfState {
  readonly appName: string;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** What is too large, and the setting that says so. */
export function excessText({ scope, bytes, most }: StateExcess): string {
  return `the state of the ${scope} has ${bytes} bytes; at most ${most} are allowed (limits.${SETTINGS[scope]})`;
}

/** The error of a read, which says what is too large. */
class ReadExcessError extends LimitExceededError {
  constructor(
    message: string,
    readonly excess: StateExcess,
  ) {
    super(message);
    this.name = LimitExceededError.name;
  }
}

/**
 * What is too large, if this is the error of a read of state.
 * @example const excess = excessOfRead(error); // thrown as `readExcessError(excess, owner)`
 */
export function excessOfRead(error: unknown): StateExcess | undefined {
  return error instanceof ReadExcessError ? error.excess : undefined;
}

/**
 * The error of a write that a store refused.
 * @example if (outcome.kind === 'stateFull') throw writeExcessError(outcome.excess);
 */
export function writeExcessError({ scope, bytes, most }: StateExcess, path?: string): LimitExceededError {
  return new LimitExceededError(
    `the state of the ${scope} would have ${bytes} bytes; at most ${most} are allowed (limits.${SETTINGS[scope]}). ` +
      'Remove keys, or store large values elsewhere',
    path,
  );
}

/**
 * The error of a read of state that is too large to be loaded. A store throws it instead of reading.
 *
 * @param isWritten whether a write was stored, which left the state too large to return it
 * @example if (bytes > limits.user) throw readExcessError({ scope: 'user', bytes, most: limits.user }, { appName, userId });
 */
export function readExcessError(excess: StateExcess, owner: OwnerOfState, isWritten = false): LimitExceededError {
  const { scope, bytes, most } = excess;
  const ids = { session: owner.sessionId, user: owner.userId, app: owner.appName };
  return new ReadExcessError(
    `${isWritten ? 'The change is stored. ' : ''}The state of the ${scope} ${JSON.stringify(ids[scope] ?? '')} has ${bytes} bytes, too many to load; at most ${most} are ` +
      `allowed (limits.${SETTINGS[scope]}). Remove keys with stateRemovals, which reads no state, or with \`agent-sessions state\`.`,
    excess,
  );
}

/** The excess of initial state, which is all that the session has. */
export function initialExcess(writes: Writes, limits: StateLimits | undefined): StateExcess | undefined {
  return stateExcess('session', { atMost: 0, entries: new Map() }, writes, limits);
}
