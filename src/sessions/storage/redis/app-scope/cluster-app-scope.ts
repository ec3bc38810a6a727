import { StoreUnavailableError } from '../../../domain/errors/errors.js';
import { type Lifetime, NEVER } from '../../../domain/values/expiry.js';
import type { SessionKey, StateOwner, UserKey } from '../../../domain/values/ids.js';
import { type StateExcess, type StateLimits, stateExcess } from '../../../domain/stored/state-size.js';
import { type StateWrites, changesNothing, storedJson, writesOf } from '../../../domain/stored/stored-json.js';
import type { PlannedEntry, PlannedScope } from '../../planned-write.js';
import type { ListResult, SharedScope } from '../../session-storage.js';
import { duringRead } from '../connect/driver-errors.js';
import { hintAtChange } from '../live/redis-marks.js';
import type { RedisKeys } from '../redis-keys.js';
import { ARGUMENTS, TIME } from '../script/base.lua.js';
import {
  type FlatHash,
  type ScriptArguments,
  lifetimeArguments,
  optional,
  parseHashPairs,
  writeArguments,
} from '../script/codec.js';
import { type NumberReply, type ScriptRunner, defineScript } from '../script/script.js';
import { REGISTRY, SHARED_STATE } from '../script/shared-state.lua.js';
import { SHARED_USAGE } from '../script/usage.lua.js';
import { countedState, readSharedState } from '../state/shared-state.js';
import type { AppScope, ListPage, PendingReply } from './app-scope.js';

/** Above this number all entries are dropped; apps are then checked more often than needed. */
const MAX_APPS = 10_000;

/** Remembers for each app the earliest time at which its state may need a renewal. */
class RenewalTimes {
  readonly #notBefore = new Map<string, number>();

  mayBeDue(appName: string, now: number): boolean {
    return now > (this.#notBefore.get(appName) ?? -1);
  }

  /** State that does not exist yet may be written at any time, with a full lifetime from then on. */
  note(appName: string, { ttlMs, renewBelowMs }: Lifetime, { now, expiresAt }: SharedScope & { now: number }): void {
    if (this.#notBefore.size >= MAX_APPS) this.#notBefore.clear();
    this.#notBefore.set(appName, (expiresAt ?? now + ttlMs) - renewBelowMs);
  }
}

/** What a process remembers about apps between calls. */
export class AppMemory {
  readonly renewals = new RenewalTimes();
  /** Until when this process has registered each app. */
  readonly registeredUntil = new Map<string, number>();
}

/**
 * On a cluster the keys of an app are in another slot than the sessions. The script of a session stores writes to them
 * in the session's pending hash. Any operation that finds pending writes applies them before it returns. The script
 * that applies them does so once, however often it runs.
 */
export class ClusterAppScope implements AppScope {
  readonly isCluster = true;

  constructor(
    private readonly scripts: ScriptRunner,
    private readonly keys: RedisKeys,
    private readonly memory: AppMemory,
  ) {}

  sessionKeys(key: SessionKey): string[] {
    return [...this.keys.ofSession(key), this.keys.changedOf(key, true)];
  }

  slotTag(owner: UserKey): string {
    return this.keys.tagOf(owner);
  }

  pendingText(scope: PlannedScope | undefined, usage: string): string {
    const hasWrites = scope !== undefined && scope.entries.length > 0;
    if (!hasWrites && usage === '') return '';
    const { writes, lifetime } = hasWrites
      ? { writes: appWrites(scope.entries), lifetime: scope.lifetime }
      : { writes: NO_WRITES, lifetime: undefined };
    return JSON.stringify({ writes, lifetime, usage: usage === '' ? undefined : usage } satisfies AppWrites);
  }

  registryKeys(): string[] {
    return [];
  }

  indexKeys(): string[] {
    return [];
  }

  writeArguments(writes: StateWrites, lifetime: Lifetime | undefined): ScriptArguments {
    return [encodePending(writes, lifetime)];
  }

  async applyPending({ key, incarnation, pending, readAt }: PendingReply): Promise<void> {
    if (pending.length === 0) return;
    await this.#apply(key, incarnation, decodePending(pending), readAt);
    await this.scripts.write(CLEAR_PENDING, { keys: [this.keys.pendingOf(key)], args: [...pending] });
  }

  async stateOf(appName: string, _reply?: FlatHash, limits?: StateLimits): Promise<SharedScope> {
    return readSharedState(this.scripts, this.keys, { appName }, { limits });
  }

  async excessOf(
    { appName }: SessionKey,
    writes: StateWrites,
    limits: StateLimits | undefined,
  ): Promise<StateExcess | undefined> {
    if (!limits || writesOf('app', writes).upserts.length === 0) return undefined;
    const size = await countedState(this.scripts, this.keys.stateOf({ appName }), true);
    return stateExcess('app', size, writes, limits);
  }

  stateBefore(appName: string, limits: StateLimits | undefined): Promise<SharedScope> {
    return this.stateOf(appName, undefined, limits);
  }

  async completeList(appName: string, { result, pending }: ListPage, limits?: StateLimits): Promise<ListResult> {
    for (const reply of pending) await duringRead(() => this.applyPending(reply));
    if (result.sessions.length === 0) return result;
    const { entries: app } = await this.stateOf(appName, undefined, limits);
    const sessions = result.sessions.map((session) => ({ ...session, state: { ...session.state, app } }));
    return { ...result, sessions };
  }

  async renewIfDue(appName: string, renew: Lifetime, now: number): Promise<void> {
    const isAlwaysDue = renew.renewBelowMs > renew.ttlMs;
    if (!isAlwaysDue && (renew.ttlMs >= NEVER || !this.memory.renewals.mayBeDue(appName, now))) return;
    const state = await readSharedState(this.scripts, this.keys, { appName }, { renew, withEntries: false });
    this.memory.renewals.note(appName, renew, state);
  }

  async register({ appName, userId }: StateOwner, due: number): Promise<void> {
    if (userId !== undefined) {
      await this.scripts.write(REGISTER, { keys: [this.keys.usersOf(appName)], args: ['', userId, due, due] });
    }
    await this.#registerApp(appName, due);
  }

  announceChange(key: SessionKey): void {
    // If it fails, the dispatcher finds the session later.
    hintAtChange(this.scripts, this.keys, key).catch(() => undefined);
  }

  async #apply(key: SessionKey, incarnation: string, pending: PendingWrites, readAt: string): Promise<void> {
    const { appName, userId } = key;
    const { registration } = pending;
    const [isDone, due] = await this.scripts.write<[isDone: NumberReply, due: string | null]>(APPLY_APP_WRITES, {
      keys: [
        this.keys.stateOf({ appName }),
        this.keys.usersOf(appName),
        this.keys.applied(appName, incarnation),
        this.keys.usageOf({ appName }),
      ],
      args: [userId, optional(registration?.due), optional(registration?.until), readAt, ...pendingArguments(pending)],
    });
    if (!Number(isDone)) throw new StoreUnavailableError('Pending writes to app state took too long.', true);
    const until = Math.max(registration?.until ?? 0, due === null ? 0 : Number(due));
    if (until > 0) await this.#registerApp(appName, until);
  }

  /** Apps are few and live long, so each process rarely has to do this. */
  async #registerApp(appName: string, until: number): Promise<void> {
    if ((this.memory.registeredUntil.get(appName) ?? 0) >= until) return;
    await this.scripts.write(REGISTER, { keys: [this.keys.apps], args: [appName, until] });
    this.memory.registeredUntil.set(appName, until);
  }
}

/**
 * Applies the pending writes of a session in the slot of the app, each once. The number of the last applied write is
 * kept for an hour. Writes that were read more than half an hour ago are refused, because that number may be gone.
 *
 * KEYS 1 app state, 2 users of the app, 3 number of the last applied write of the session, 4 usage of the app.
 * ARGV 1 time, 2 user id, 3 when something of the user may expire ('' = the user is registered), 4 until when the user
 *      is registered, then the server time when the writes were read, their number, and for each, in the order of the
 *      log: number of its event, ttl ('' = no writes), renewal threshold, writes, usage ('' = none).
 * Returns { applied (1) or too late (0), the expiry of the app state if it is new or now expires earlier }.
 */
export const APPLY_APP_WRITES = defineScript(
  'apply-app-writes',
  TIME,
  ARGUMENTS,
  SHARED_STATE,
  SHARED_USAGE,
  REGISTRY,
  String.raw`
local KEPT_MS, TOO_LATE_MS = 3600000, 1800000
local readAt, count = takeNumber(), takeNumber()
if serverTime - readAt > TOO_LATE_MS then return { 0, false } end

-- Usage as usageText makes it.
local function usageIn(usage)
  local times, names, added = timesOfUsage(usage), {}, {}
  for field, count in string.gmatch(string.match(usage, '^[^\n]*\n[^\n]*\n[^\n]*\n(.*)$'), '([^\n]*)\n([^\n]*)\n') do
    names[#names + 1], added[#added + 1] = times.day .. ' ' .. field, tonumber(count)
  end
  return { times = times, names = names, added = added }
end

local applied = tonumber(redis.call('GET', KEYS[3])) or -1
local registered = ARGV[3] ~= '' and registeredDue(KEYS[2], ARGV[2])
local due
for _ = 1, count do
  local seq, ttl, renewBelow, writes, usage = takeNumber(), takeNumber(), takeNumber(), takeWrites(), take()
  if seq > applied then
    local added = usage ~= '' and usageIn(usage)
    if added then readUsage(KEYS[4], added) end
    if ttl then
      local expiry, bytes = expiryOfState(KEYS[1])
      due = writeState(KEYS[1], expiry, bytes, writes, ttl, renewBelow) or due
    end
    if added then addUsage(KEYS[4], added) end
    applied = seq
  end
end
writeUsage()
if count > 0 then redis.call('SET', KEYS[3], text(applied), 'PX', KEPT_MS) end
if ARGV[3] ~= '' then registerUser(KEYS[2], ARGV[2], registered, tonumber(ARGV[3]), tonumber(ARGV[4])) end
return { 1, due and text(due) or false }
`,
);

/**
 * Removes fields from the pending hash, unless they have changed since.
 *
 * KEYS 1 pending.
 * ARGV 1 time, then alternating field and value.
 * Returns nothing.
 */
export const CLEAR_PENDING = defineScript(
  'clear-pending',
  String.raw`
for index = 2, #ARGV, 2 do
  if redis.call('HGET', KEYS[1], ARGV[index]) == ARGV[index + 1] then redis.call('HDEL', KEYS[1], ARGV[index]) end
end
`,
);

/**
 * Registers an app or a user for the purge and for lists.
 *
 * KEYS 1 apps, or users of an app.
 * ARGV 1 time, then for an app: 2 app name, 3 until when it is registered; for a user: 2 '', 3 user id, 4 when something
 *      of the user may expire, 5 until when the user is registered.
 * Returns nothing.
 */
export const REGISTER = defineScript(
  'register',
  TIME,
  REGISTRY,
  String.raw`
if ARGV[2] == '' then
  registerUser(KEYS[1], ARGV[3], registeredDue(KEYS[1], ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]))
else
  registerApp(KEYS[1], ARGV[2], isFirstApp(KEYS[1]), tonumber(ARGV[3]))
end
`,
);

/** The field of a pending hash that requests the registration of the user. All other fields are event numbers. */
const REGISTRATION_FIELD = 'register';

interface AppWrites {
  readonly writes: StateWrites;
  /** Missing if there are no writes. */
  readonly lifetime?: Lifetime | undefined;
  /** As scripts take it. */
  readonly usage?: string | undefined;
}

const NO_WRITES: StateWrites = { upserts: [], removals: [] };

function appWrites(entries: readonly PlannedEntry[]): StateWrites {
  return {
    upserts: entries.flatMap(({ name, value }) => (value === undefined ? [] : [{ scope: 'app', name, value }])),
    removals: entries.flatMap(({ name, value }) => (value === undefined ? [{ scope: 'app', name }] : [])),
  };
}

/** The pending writes of a session, in the order of its log. */
export interface PendingWrites {
  readonly writes: readonly (AppWrites & { readonly seq: number })[];
  readonly registration: { readonly due: number; readonly until: number } | undefined;
}

/** Encodes writes to app state for the pending hash; '' if there are none. */
function encodePending(writes: StateWrites, lifetime: Lifetime | undefined): string {
  if (!lifetime || changesNothing(writes)) return '';
  return JSON.stringify({ writes, lifetime } satisfies AppWrites);
}

export function decodePending(pending: FlatHash): PendingWrites {
  const fields = parseHashPairs(pending);
  const writes = fields
    .filter(([field]) => field !== REGISTRATION_FIELD)
    .map(([seq, text]) => ({ seq: Number(seq), ...(storedJson(text, 'pending state') as AppWrites) }));
  const registration = fields.find(([field]) => field === REGISTRATION_FIELD)?.[1];
  const [due, until] = registration?.split(' ').map(Number) ?? [];
  return {
    writes: writes.toSorted((a, b) => a.seq - b.seq),
    registration: due === undefined || until === undefined ? undefined : { due, until },
  };
}

/** ARGV of APPLY_APP_WRITES. */
function pendingArguments({ writes }: PendingWrites): ScriptArguments {
  return [
    writes.length,
    ...writes.flatMap(({ seq, lifetime, writes: ofEvent, usage }) => [
      seq,
      ...lifetimeArguments(lifetime),
      ...writeArguments(ofEvent),
      usage ?? '',
    ]),
  ];
}
