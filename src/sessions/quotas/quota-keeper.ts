import { ConfigurationError } from '../../config/configuration-error.js';
import {
  type QuotaName,
  type QuotaSettings,
  type Quotas,
  type QuotasOf,
  QUOTAS_SHAPE,
  areQuotas,
} from '../../config/quota-settings.js';
import { KnownEntries } from '../coordination/known-entries.js';
import type { Clock } from '../domain/clock.js';
import { StoreUnavailableError } from '../domain/errors.js';
import type { StateOwner, UserKey } from '../domain/ids.js';
import { digestOf } from '../domain/json-digest.js';
import { QuotaExceededError, type QuotaUse } from '../domain/quota-error.js';
import { QUOTA_WINDOWS, countAt } from '../domain/quota-rules.js';
import type { EntryPlace } from '../storage/entry-store.js';
import { countSessions } from '../storage/count-sessions.js';
import type { SessionStorage } from '../storage/session-storage.js';
import { type RateRequest, RateShares, rateIn } from './rate-shares.js';
import { SessionCounts } from './session-counts.js';

type Rate = Exclude<QuotaName, 'sessions'>;

/** What a write needs. Bytes are counted only where they are limited. */
type Needs = Readonly<Partial<Record<Rate, number | (() => number)>>>;

/** The quotas of a user, an app or this instance. */
interface Scope {
  readonly scope: QuotaUse['scope'];
  readonly owner: StateOwner | undefined;
  readonly quotas: Quotas;
}

interface Taken {
  readonly scope: Scope;
  readonly quota: Rate;
  readonly request: RateRequest;
}

type GiveBack = () => Promise<void>;

const SPACE = 'quota';

/** Refuses what quotas have no room for, before anything is written. */
export class QuotaKeeper {
  readonly #entries: KnownEntries;
  readonly #shares: RateShares;
  readonly #sessions: SessionCounts;

  constructor(
    private readonly settings: QuotaSettings,
    private readonly storage: Pick<SessionStorage, 'entries' | 'list'>,
    clock: Clock,
  ) {
    this.#entries = new KnownEntries(storage.entries);
    this.#shares = new RateShares(this.#entries, clock);
    this.#sessions = new SessionCounts(this.#entries, storage);
  }

  /** Counts events. With `isForced` it refuses nothing: what an agent answers must not be lost. */
  async append(owner: UserKey, events: number, bytes: () => number, isForced: boolean): Promise<void> {
    const needs = { appendsPerMinute: events, bytesPerDay: bytes };
    await nothingWritten(async () => this.#takeRates(await this.#scopes(owner), needs, isForced));
  }

  /** Counts a session. Call what it returns if the session is not created after all. */
  async create(owner: UserKey, bytes: () => number): Promise<GiveBack> {
    return nothingWritten(async () => {
      const scopes = await this.#scopes(owner);
      const taken = await this.#takeRates(scopes, { bytesPerDay: bytes }, false);
      return this.#takeSessions(scopes, () => this.#giveBack(taken));
    });
  }

  /** Counts a run of an agent. It is refused too if there is no room for its message. */
  async run(owner: UserKey): Promise<void> {
    const needs = { runsPerMinute: 1, appendsPerMinute: 0, bytesPerDay: 0 };
    await nothingWritten(async () => this.#takeRates(await this.#scopes(owner), needs, false));
  }

  /** What is used of the quotas of a user, or of an app. */
  async uses({ appName, userId }: StateOwner): Promise<QuotaUse[]> {
    const scopes =
      userId === undefined ? [await this.#appScope(appName)] : [await this.#userScope({ appName, userId })];
    const asked = scopes.flatMap(({ scope, owner, quotas }) =>
      quotasIn(quotas).map(([quota, limit]) => ({ scope, owner, quota, limit })),
    );
    const rates = asked.flatMap((one) => (one.quota === 'sessions' ? [] : [{ ...one, quota: one.quota }]));
    const places = rates.map(({ scope, owner, quota }) => placeOf(scope, owner, quota));
    const seen = places.length > 0 ? await this.#entries.find(places) : undefined;
    const used = rates.map(({ scope, quota, limit }, index): QuotaUse => {
      const place = places[index];
      const stored = place && seen?.at(place);
      const windowMs = QUOTA_WINDOWS[quota];
      const count = countAt(stored && rateIn(stored), seen?.now ?? 0, windowMs);
      return { scope, quota, used: count.used, limit, resetsAt: count.since + windowMs };
    });
    const stocks = asked.filter(({ quota }) => quota === 'sessions');
    for (const { scope, owner, quota, limit } of stocks) {
      if (owner) used.unshift({ scope, quota, used: await countSessions(this.storage, owner), limit });
    }
    return used;
  }

  async #takeSessions(scopes: readonly Scope[], giveBackRates: () => void): Promise<GiveBack> {
    const given: GiveBack[] = [async () => giveBackRates()];
    const giveBack = async (): Promise<void> => {
      for (const one of given.splice(0)) await one();
    };
    try {
      for (const { scope, owner, quotas } of scopes) {
        const limit = quotas.sessions;
        if (limit === undefined || !owner) continue;
        const quota = { owner, place: placeOf(scope, owner, 'sessions'), limit };
        const used = await this.#sessions.take(quota);
        if (used !== undefined) throw new QuotaExceededError({ scope, quota: 'sessions', used, limit });
        given.push(async () => this.#sessions.giveBack(quota));
      }
      return giveBack;
    } catch (error) {
      await giveBack();
      throw error;
    }
  }

  /** All, or nothing. */
  async #takeRates(scopes: readonly Scope[], needs: Needs, isForced: boolean): Promise<readonly Taken[]> {
    const taken: Taken[] = [];
    try {
      for (const one of scopes.flatMap((scope) => ratesIn(scope, needs))) {
        await this.#takeRate(one, isForced);
        taken.push(one);
      }
      return taken;
    } catch (error) {
      this.#giveBack(taken);
      throw error;
    }
  }

  async #takeRate({ scope: { scope }, quota, request }: Taken, isForced: boolean): Promise<void> {
    const { limit, need } = request;
    if (Math.max(1, need) > limit && !isForced) throw new QuotaExceededError({ scope, quota, used: need, limit });
    const refusal = await this.#shares.take(request, isForced);
    if (!refusal) return;
    const { used, resetsAt, retryAfterMs } = refusal;
    throw new QuotaExceededError({ scope, quota, used, limit, resetsAt }, retryAfterMs);
  }

  #giveBack(taken: readonly Taken[]): void {
    for (const { request } of taken) this.#shares.giveBack(request);
  }

  async #scopes({ appName, userId }: UserKey): Promise<readonly Scope[]> {
    const inProcess: Scope = { scope: 'process', owner: undefined, quotas: this.settings.process };
    return [inProcess, await this.#userScope({ appName, userId }), await this.#appScope(appName)];
  }

  async #userScope(owner: UserKey): Promise<Scope> {
    return { scope: 'user', owner, quotas: await quotasOf('quotas.user', this.settings.user, owner) };
  }

  async #appScope(appName: string): Promise<Scope> {
    const owner = { appName };
    return { scope: 'app', owner, quotas: await quotasOf('quotas.app', this.settings.app, owner) };
  }
}

/** What a function returns is checked each time. */
async function quotasOf<Owner extends object>(path: string, given: QuotasOf<Owner>, owner: Owner): Promise<Quotas> {
  if (typeof given !== 'function') return given;
  const quotas: unknown = await given({ ...owner });
  if (!areQuotas(quotas)) throw new ConfigurationError([`${path} must return ${QUOTAS_SHAPE}.`]);
  return quotas;
}

function quotasIn(quotas: Quotas): [QuotaName, number][] {
  return Object.entries(quotas).flatMap(([name, limit]): [QuotaName, number][] =>
    limit === undefined ? [] : [[name as QuotaName, limit as number]],
  );
}

function ratesIn(scope: Scope, needs: Needs): Taken[] {
  return quotasIn(scope.quotas).flatMap(([quota, limit]) => {
    if (quota === 'sessions') return [];
    const given = needs[quota];
    if (given === undefined) return [];
    const need = typeof given === 'function' ? given() : given;
    const place = placeOf(scope.scope, scope.owner, quota);
    const name = scope.owner ? place.name : quota;
    const request = { place: scope.owner && place, name, limit, windowMs: QUOTA_WINDOWS[quota], need };
    return [{ scope, quota, request }];
  });
}

/** Names no user, since entries are left for some time when a user is erased. */
function placeOf(scope: QuotaUse['scope'], owner: StateOwner | undefined, quota: QuotaName): EntryPlace {
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
