import { checkOptionNames } from '../../config/option-checks.js';
import { digestOf } from '../../sessions/domain/json-digest.js';
import type { UserKey } from '../../sessions/domain/ids.js';
import { assertWholeNumber } from '../../sessions/domain/input-checks.js';
import { type PlaceOptions, takePlace } from '../../sessions/leases/take-place.js';
import { type RunLimit, RunLimitError } from '../errors/run-limit-error.js';

/** The most runs at once, working and waiting. */
export interface RunLimits {
  /** Of a user of an app, in all instances. Default: no limit. */
  readonly perUser?: number | undefined;
  /** Of an app, in all instances. Default: no limit. */
  readonly perApp?: number | undefined;
  /** Of this instance. Default: 1,000. */
  readonly perProcess?: number | undefined;
}

const LIMIT_NAMES: Readonly<Record<keyof RunLimits, true>> = { perUser: true, perApp: true, perProcess: true };
const DEFAULT_PER_PROCESS = 1_000;
/** A full app costs as many calls of the store as it has hundreds of places. */
const MOST_PLACES = 10_000;

type GiveBack = () => Promise<void>;

/** Counts runs at once. What instances share is a lease for each run, which ends by itself when its process dies. */
export class RunPlaces {
  readonly #limits: RunLimits & { readonly perProcess: number };
  #running = 0;

  constructor(
    private readonly env: Pick<PlaceOptions, 'leases' | 'ttlMs' | 'onError'>,
    limits: RunLimits = {},
  ) {
    checkOptionNames(limits, LIMIT_NAMES);
    const { perProcess = DEFAULT_PER_PROCESS } = limits;
    this.#limits = { ...limits, perProcess };
    for (const [name, limit] of Object.entries({ ...this.#limits })) {
      if (limit !== undefined) assertWholeNumber(limit, { path: `maxRuns.${name}`, from: 1, to: MOST_PLACES });
    }
  }

  /** Runs work if there is room for it, or refuses with `RunLimitError`. */
  async within<Result>({ appName, userId }: UserKey, work: () => Promise<Result>): Promise<Result> {
    const { perUser, perApp, perProcess } = this.#limits;
    if (this.#running >= perProcess) throw new RunLimitError({ scope: 'process', unit: 'runs', limit: perProcess });
    this.#running += 1;
    const taken: GiveBack[] = [];
    try {
      if (perUser !== undefined) taken.push(await this.#take('user', perUser, nameOf('user', appName, userId)));
      if (perApp !== undefined) taken.push(await this.#take('app', perApp, nameOf('app', appName)));
      return await work();
    } finally {
      this.#running -= 1;
      for (const giveBack of taken) await giveBack();
    }
  }

  async #take(scope: RunLimit['scope'], limit: number, name: string): Promise<GiveBack> {
    const place = await takePlace({ ...this.env, name, places: limit });
    if (!place) throw new RunLimitError({ scope, unit: 'runs', limit });
    return async () => place.release();
  }
}

/** Names no user, since leases are left when a user is erased. */
function nameOf(...owner: readonly string[]): string {
  return `runs:${digestOf(owner)}`;
}
