import { type SettingsOf, wholeNumber } from '../../config/setting.js';
import { withDefaults } from '../../config/with-defaults.js';
import { digestOf } from '../../sessions/domain/values/json-digest.js';
import type { UserKey } from '../../sessions/domain/values/ids.js';
import { LimitExceededError } from '../../sessions/domain/errors/errors.js';
import { commitBytes } from '../../sessions/domain/stored/batches.js';
import { type PlaceOptions, takePlace } from '../../sessions/leases/take-place.js';
import type { Semaphore } from '../../sessions/storage/semaphore.js';
import type { AgentEnvironment } from '../turn/agent-environment.js';
import { type Brought, MOST_HELD_BYTES, broughtBytes, tempOf } from '../turn/queue-place.js';
import { type RunLimit, RunLimitError } from '../errors/run-limit-error.js';
import { type RunIdentity, hasBegun } from './run-quota.js';

/** The most runs at once, working and waiting. */
export interface RunLimits {
  /** Of a user of an app, in all instances. Default: no limit. */
  readonly perUser?: number | undefined;
  /** Of an app, in all instances. Default: no limit. */
  readonly perApp?: number | undefined;
  /** Of this instance. Default: 1,000. */
  readonly perProcess?: number | undefined;
}

const DEFAULT_PER_PROCESS = 1_000;
/** A full app costs as many calls of the store as it has hundreds of places. */
const MOST_PLACES = 10_000;
const places = { kind: wholeNumber(1, MOST_PLACES) };

/** What each limit accepts. */
export const MAX_RUNS: SettingsOf<RunLimits> = { perUser: places, perApp: places, perProcess: places };

type GiveBack = () => Promise<void>;

/**
 * Counts runs at once. What instances share is a lease for each run, which ends by itself when its process dies; a count in the
 * store would stay wrong then, and n instances would multiply a limit of each process.
 */
export class RunPlaces {
  readonly #limits: RunLimits & { readonly perProcess: number };
  #running = 0;

  constructor(
    private readonly env: Pick<PlaceOptions, 'leases' | 'ttlMs' | 'onError'> & Pick<AgentEnvironment, 'sessions'>,
    limits: RunLimits = {},
  ) {
    this.#limits = { ...limits, perProcess: limits.perProcess ?? DEFAULT_PER_PROCESS };
  }

  /**
   * Runs work if there is room for it, or refuses with `RunLimitError`. For who asks again for a run that has begun, only the process has to
   * have room.
   */
  async within<Result>(run: RunIdentity, work: () => Promise<Result>): Promise<Result> {
    const { perProcess } = this.#limits;
    if (this.#running >= perProcess) throw new RunLimitError({ scope: 'process', unit: 'runs', limit: perProcess });
    this.#running += 1;
    const taken: GiveBack[] = [];
    try {
      await this.#takeShared(run.key, taken).catch(async (error: unknown) => {
        if (!(error instanceof RunLimitError) || !(await hasBegun(this.env.sessions, run))) throw error;
      });
      return await work();
    } finally {
      this.#running -= 1;
      for (const giveBack of taken) await giveBack();
    }
  }

  async #takeShared({ appName, userId }: UserKey, taken: GiveBack[]): Promise<void> {
    const { perUser, perApp } = this.#limits;
    if (perUser !== undefined) taken.push(await this.#take('user', perUser, toRunLeaseName('user', appName, userId)));
    if (perApp !== undefined) taken.push(await this.#take('app', perApp, toRunLeaseName('app', appName)));
  }

  async #take(scope: RunLimit['scope'], limit: number, name: string): Promise<GiveBack> {
    const place = await takePlace({ ...this.env, name, places: limit });
    if (!place) throw new RunLimitError({ scope, unit: 'runs', limit });
    return async () => place.release();
  }
}

/** Names no user, since leases are left when a user is erased. */
function toRunLeaseName(...owner: readonly string[]): string {
  return `runs:${digestOf(owner)}`;
}

/** What messages may hold in memory while they wait. */
export interface WaitingLimits {
  /** The most `temp:` state of one message, as JSON. It is never stored, so the process keeps it. */
  readonly maxTempBytes: number;
  /** The most bytes of all that wait in this instance. */
  readonly maxWaitingBytes: number;
}

const DEFAULT_WAITING: WaitingLimits = { maxTempBytes: 65_536, maxWaitingBytes: 67_108_864 };

/** What each of these limits accepts. */
export const WAITING: SettingsOf<WaitingLimits> = {
  maxTempBytes: { kind: wholeNumber() },
  maxWaitingBytes: { kind: wholeNumber() },
};

/** Fills in missing limits. */
export function waitingLimits({
  maxTempBytes,
  maxWaitingBytes,
}: Partial<Record<keyof WaitingLimits, number | undefined>>): WaitingLimits {
  return withDefaults<WaitingLimits>({ maxTempBytes, maxWaitingBytes }, DEFAULT_WAITING);
}

/**
 * The memory of the messages that wait in an instance, also of those whose clients have gone. One that has no room is refused before it
 * is stored, so its client can send it again.
 */
export class WaitingMemory {
  #held = 0;

  constructor(private readonly limits: WaitingLimits) {}

  /**
   * Counts what a request holds until it is released.
   *
   * @param isInLog whether its message is in the log while it waits
   */
  reserve(request: Partial<Brought>, isInLog: boolean): () => void {
    const { maxTempBytes, maxWaitingBytes } = this.limits;
    const temp = tempOf(request.stateDelta);
    const tempBytes = temp ? commitBytes(temp) : 0;
    if (tempBytes > maxTempBytes) {
      const what = `the temp: keys of a message that waits may have ${maxTempBytes} bytes, these have ${tempBytes}`;
      throw new LimitExceededError(`${what}. Send less, or keep it in the state of the session`, 'stateDelta');
    }
    const brought = broughtBytes(request);
    const bytes = isInLog && brought > MOST_HELD_BYTES ? tempBytes : brought;
    if (this.#held + bytes > maxWaitingBytes) {
      throw new RunLimitError({ scope: 'process', unit: 'bytes', limit: maxWaitingBytes });
    }
    this.#held += bytes;
    let isHeld = true;
    return () => {
      if (isHeld) this.#held -= bytes;
      isHeld = false;
    };
  }
}

/** What requests need besides: how many may work and wait. */
export interface AskEnvironment extends AgentEnvironment {
  readonly runs: RunPlaces;
  readonly waitingMemory: WaitingMemory;
  /** Lets few at a time load the session that their result has. */
  readonly loads: Semaphore;
}
