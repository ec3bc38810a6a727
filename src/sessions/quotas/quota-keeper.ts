import { ConfigurationError } from '../../config/configuration-error.js';
import {
  type QuotaName,
  type QuotaScope,
  type QuotaSettings,
  type Quotas,
  type QuotasOf,
  areQuotas,
  quotasHint,
  shapeOfQuotas,
} from '../../config/quota-settings.js';
import { KnownEntries } from '../coordination/known-entries.js';
import type { Clock } from '../domain/process/clock.js';
import { StoreUnavailableError } from '../domain/errors/errors.js';
import type { StateOwner, UserKey } from '../domain/values/ids.js';
import { digestOf } from '../domain/values/json-digest.js';
import { askApp } from '../domain/errors/nested-failures.js';
import { QuotaExceededError, type QuotaUse } from '../domain/errors/quota-error.js';
import { QUOTA_WINDOWS, type Rate, type ShareRequest, countAt } from '../domain/usage/rate-rules.js';
import { BYTES_SHARE_MS } from '../domain/usage/stored-bytes-rules.js';
import type { EntryPlace } from '../storage/entry-store.js';
import { countSessions } from '../storage/count-sessions.js';
import type { SessionStorage } from '../storage/session-storage.js';
import { type RateRequest, RateShares, rateIn } from './rate-shares.js';
import { SessionCounts } from './session-counts.js';
import { StoredBytesCounts } from './stored-bytes.js';

/** What is taken in shares. */
type Shared = Rate | 'storedBytes';

/** What a write needs. Bytes are counted only where they are limited. */
type Needs = Readonly<Partial<Record<Shared, number | (() => number)>>>;

/** The quotas of a user, an app or this instance. */
interface Scope {
  readonly scope: QuotaScope;
  readonly owner: StateOwner | undefined;
  readonly quotas: Quotas;
}

interface Taken {
  readonly scope: Scope;
  readonly quota: Shared;
  readonly request: RateRequest;
}

type GiveBack = () => Promise<void>;

const SPACE = 'quota';

/** Refuses what quotas have no room for, before anything is written. */
export class QuotaKeeper {
  readonly #entries: KnownEntries;
  readonly #shares: RateShares;
  readonly #sessions: SessionCounts;
  readonly #storedBytes: StoredBytesCounts;

  constructor(
    private readonly settings: QuotaSettings,
    private readonly storage: Pick<SessionStorage, 'entries' | 'list' | 'tails'>,
    clock: Clock,
  ) {
    this.#entries = new KnownEntries(storage.entries);
    this.#shares = new RateShares(this.#entries, clock);
    this.#sessions = new SessionCounts(this.#entries, storage);
    this.#storedBytes = new StoredBytesCounts(this.#entries, storage);
  }

  /** Counts events. With `isForced` it refuses nothing: what an agent answers must not be lost. */
  async append(owner: UserKey, events: number, bytes: () => number, isForced: boolean): Promise<void> {
    const needs = { storedBytes: bytes, appendsPerMinute: events, bytesPerDay: bytes };
    await nothingWritten(async () => this.#takeShares(await this.#scopes(owner), needs, isForced));
  }

  /** Counts a session. Call what it returns if the session is not created after all. */
  async create(owner: UserKey, bytes: () => number): Promise<GiveBack> {
    return nothingWritten(async () => {
      const scopes = await this.#scopes(owner);
      const taken = await this.#takeShares(scopes, { storedBytes: bytes, bytesPerDay: bytes }, false);
      return this.#takeSessions(scopes, () => this.#giveBack(taken));
    });
  }

  /** Counts a run of an agent. It is refused too if there is no room for its message. */
  async run(owner: UserKey): Promise<void> {
    const needs = { runsPerMinute: 1, storedBytes: 0, appendsPerMinute: 0, bytesPerDay: 0 };
    await nothingWritten(async () => this.#takeShares(await this.#scopes(owner), needs, false));
  }

  /** What is used of the quotas of a user, or of an app. */
  async uses({ appName, userId }: StateOwner): Promise<QuotaUse[]> {
    const scopes =
      userId === undefined ? [await this.#appScope(appName)] : [await this.#userScope({ appName, userId })];
    const asked = scopes.flatMap((scope) => quotasIn(scope.quotas).map(([quota, limit]) => ({ scope, quota, limit })));
    const rates = asked.flatMap(({ quota, ...one }) => (isRate(quota) ? [{ ...one, quota }] : []));
    const places = rates.map(({ scope, quota }) => toQuotaPlace(scope, quota));
    const seen = places.length > 0 ? await this.#entries.find(places) : undefined;
    const used = rates.map(({ scope: { scope }, quota, limit }, index): QuotaUse => {
      const place = places[index];
      const stored = place && seen?.at(place);
      const windowMs = QUOTA_WINDOWS[quota];
      const count = countAt(stored && rateIn(stored), seen?.now ?? 0, windowMs);
      return { scope, quota, used: count.used, limit, resetsAt: count.since + windowMs };
    });
    const stocks: QuotaUse[] = [];
    for (const { scope, quota, limit } of asked) {
      const counted = isRate(quota) ? undefined : await this.#stockOf(scope, quota);
      if (counted !== undefined) stocks.push({ scope: scope.scope, quota, used: counted, limit });
    }
    return [...stocks, ...used];
  }

  async #stockOf(scope: Scope, quota: 'sessions' | 'storedBytes'): Promise<number | undefined> {
    const { owner } = scope;
    if (!owner) return undefined;
    if (quota === 'sessions') return countSessions(this.storage, owner);
    return isUser(owner) ? this.#storedBytes.look(owner, toQuotaPlace(scope, quota)) : undefined;
  }

  async #takeSessions(scopes: readonly Scope[], giveBackShares: () => void): Promise<GiveBack> {
    const given: GiveBack[] = [async () => giveBackShares()];
    const giveBack = async (): Promise<void> => {
      for (const one of given.splice(0)) await one();
    };
    try {
      for (const scope of scopes) {
        const { owner, quotas } = scope;
        const limit = quotas.sessions;
        if (limit === undefined || !owner) continue;
        const quota = { owner, place: toQuotaPlace(scope, 'sessions'), limit };
        const used = await this.#sessions.take(quota);
        if (used !== undefined) throw new QuotaExceededError({ scope: scope.scope, quota: 'sessions', used, limit });
        given.push(async () => this.#sessions.giveBack(quota));
      }
      return giveBack;
    } catch (error) {
      await giveBack();
      throw error;
    }
  }

  /** All, or nothing. */
  async #takeShares(scopes: readonly Scope[], needs: Needs, isForced: boolean): Promise<readonly Taken[]> {
    const taken: Taken[] = [];
    try {
      for (const one of scopes.flatMap((scope) => this.#sharesIn(scope, needs))) {
        await this.#takeShare(one, isForced);
        taken.push(one);
      }
      return taken;
    } catch (error) {
      this.#giveBack(taken);
      throw error;
    }
  }

  async #takeShare({ scope: { scope }, quota, request }: Taken, isForced: boolean): Promise<void> {
    const { limit, need } = request;
    if (Math.max(1, need) > limit && !isForced) throw new QuotaExceededError({ scope, quota, used: need, limit });
    const refusal = await this.#shares.take(request, isForced);
    if (!refusal) return;
    const { used, resetsAt, retryAfterMs } = refusal;
    // Time alone makes no room for what is stored.
    if (quota === 'storedBytes') throw new QuotaExceededError({ scope, quota, used, limit });
    throw new QuotaExceededError({ scope, quota, used, limit, resetsAt }, retryAfterMs);
  }

  #sharesIn(scope: Scope, needs: Needs): Taken[] {
    return quotasIn(scope.quotas).flatMap(([quota, limit]) => {
      if (quota === 'sessions') return [];
      const given = needs[quota];
      if (given === undefined) return [];
      const need = typeof given === 'function' ? given() : given;
      const request = { ...this.#sourceOf(scope, quota), limit, need };
      return [{ scope, quota, request }];
    });
  }

  /** Where a quota is counted. */
  #sourceOf(scope: Scope, quota: Shared): Omit<RateRequest, 'limit' | 'need'> {
    const { owner } = scope;
    const place = toQuotaPlace(scope, quota);
    if (isRate(quota)) {
      const windowMs = QUOTA_WINDOWS[quota];
      return owner ? { place, name: place.name, windowMs } : { place: undefined, name: quota, windowMs };
    }
    if (!owner || !isUser(owner)) throw new Error('Stored bytes are a quota of users');
    const ask = (wanted: ShareRequest) => this.#storedBytes.take(owner, place, wanted);
    return { place, name: place.name, windowMs: BYTES_SHARE_MS, ask };
  }

  #giveBack(taken: readonly Taken[]): void {
    for (const { request } of taken) this.#shares.giveBack(request);
  }

  async #scopes({ appName, userId }: UserKey): Promise<readonly Scope[]> {
    const inProcess: Scope = { scope: 'process', owner: undefined, quotas: this.settings.process };
    return [inProcess, await this.#userScope({ appName, userId }), await this.#appScope(appName)];
  }

  async #userScope(owner: UserKey): Promise<Scope> {
    return { scope: 'user', owner, quotas: await quotasOf('user', this.settings.user, owner) };
  }

  async #appScope(appName: string): Promise<Scope> {
    const owner = { appName };
    return { scope: 'app', owner, quotas: await quotasOf('app', this.settings.app, owner) };
  }
}

/** What a function returns is checked each time. */
async function quotasOf<Owner extends object>(
  scope: QuotaScope,
  given: QuotasOf<Owner>,
  owner: Owner,
): Promise<Quotas> {
  if (typeof given !== 'function') return given;
  const quotas: unknown = await askApp(`quotas.${scope}`, () => given({ ...owner }));
  if (areQuotas(scope, quotas)) return quotas;
  const [shape, hint] = [shapeOfQuotas(scope), quotasHint(scope, quotas)];
  throw new ConfigurationError([`quotas.${scope} must return ${shape}.${hint === undefined ? '' : ` ${hint}`}`]);
}

function quotasIn(quotas: Quotas): [QuotaName, number][] {
  return Object.entries(quotas).flatMap(([name, limit]): [QuotaName, number][] =>
    limit === undefined ? [] : [[name as QuotaName, limit as number]],
  );
}

function isRate(quota: QuotaName): quota is Rate {
  return quota in QUOTA_WINDOWS;
}

function isUser(owner: StateOwner): owner is UserKey {
  return owner.userId !== undefined;
}

/** Names no user, since entries are left for some time when a user is erased. */
function toQuotaPlace({ scope, owner }: Scope, quota: QuotaName): EntryPlace {
  return { space: SPACE, name: `${quota}:${digestOf([scope, owner ?? {}])}` };
}

/** A write of the store that failed here has counted at most. */
async function nothingWritten<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof StoreUnavailableError ? error.withOutcome(false) : error;
  }
}
