import type { BaseSessionService, Event, Session } from '@google/adk';
import { isDeepStrictEqual } from 'node:util';
import { SessionsError } from '../../../../src/index.js';
import { randomNumbers } from '../../../support/random.js';
import { type Random, STATE_KEYS, pick, randomEvent, randomState } from './random-events.js';

/** How a service of ADK differs from ours, and from the other one. docs/adapters/adk.md has them. */
export interface KnownDifferences {
  /** Keys `user:` and `app:` of the initial state belong to this session only. */
  readonly initialStateIsNotShared?: boolean;
  /** A second session with the same id takes the place of the first. */
  readonly createReplaces?: boolean;
  /** Events of a session that is gone disappear without an error. */
  readonly appendsToNothing?: boolean;
  /** `numRecentEvents: 0` means all. */
  readonly zeroIsAll?: boolean;
  /** `afterTimestamp` leaves out events of that moment. */
  readonly afterIsExclusive?: boolean;
  /** Sessions of a list have no state. */
  readonly listsNoState?: boolean;
  /** Partial events change the time of the session, and shared state. */
  readonly partialsChangeState?: boolean;
  /** A key `__proto__` of the state is lost. */
  readonly losesProto?: boolean;
  /** An append through an old object loads the events of others into it. */
  readonly refreshesObjects?: boolean;
}

export interface Clock {
  time: number;
}

const USERS = ['ann', 'bob'];
const IDS = ['s1', 's2', 's3'];
const STEPS = 30;

/** Performs random operations on two services, and compares what they show. */
export class ComparedServices {
  readonly #held: { readonly theirs: Session; readonly ours: Session }[] = [];
  readonly #keys: readonly string[];
  #events = 0;

  constructor(
    private readonly theirs: BaseSessionService,
    private readonly ours: BaseSessionService,
    private readonly appName: string,
    private readonly random: Random,
    private readonly clock: Clock,
    private readonly known: KnownDifferences,
  ) {
    this.#keys = known.losesProto ? STATE_KEYS.filter((key) => key !== '__proto__') : STATE_KEYS;
  }

  async run(): Promise<void> {
    for (let step = 0; step < STEPS; step++) {
      this.clock.time += 1_000;
      await pick(this.random, [
        () => this.#create(),
        () => this.#append(),
        () => this.#append(),
        () => this.#append(),
        () => this.#get(),
        () => this.#get(),
        () => this.#list(),
        () => (this.random() < 0.5 ? this.#delete() : this.#append()),
      ])();
    }
    for (const userId of USERS) for (const sessionId of IDS) await this.#compare({ userId, sessionId });
  }

  async #create(): Promise<void> {
    const key = this.#key();
    const keys = this.known.initialStateIsNotShared
      ? this.#keys.filter((name) => !/^(user|app):/.test(name))
      : this.#keys;
    const state = randomState(this.random, keys);
    const before = await this.ours.getSession(key);
    const ours = await outcomeOf(() => this.ours.createSession({ ...key, state: structuredClone(state) }));
    if (before) {
      same('create with an id in use', ours, { code: 'SESSION_EXISTS' });
      if (this.known.createReplaces) return;
    }
    const theirs = await outcomeOf(() => this.theirs.createSession({ ...key, state }));
    if (before) return same('create with an id in use', theirs, { code: 'error' });
    if (!isSession(ours) || !isSession(theirs)) throw new Error('The session was not created');
    same('a new session', shownOf(ours), shownOf(theirs));
    this.#held.push({ theirs, ours });
    // From now on both have the same time of the last update.
    await this.#appendTo({ theirs, ours }, { isStored: true });
  }

  async #append(): Promise<void> {
    if (this.#held.length > 0) await this.#appendTo(pick(this.random, this.#held));
  }

  async #appendTo(
    held: { readonly theirs: Session; readonly ours: Session },
    { isStored = false } = {},
  ): Promise<void> {
    const id = `e${++this.#events}`;
    const from = Math.floor(this.random() * 2 ** 32);
    this.clock.time += 1_000;
    const [event, copy] = [0, 1].map(() => randomEvent(randomNumbers(from), id, this.clock.time, this.#keys)) as [
      Event,
      Event,
    ];
    if (isStored) delete event.partial;
    if (isStored) delete copy.partial;
    const { appName, userId, id: sessionId } = held.ours;
    const isThere = (await this.ours.getSession({ appName, userId, sessionId })) !== undefined;
    const ours = await outcomeOf(() => this.ours.appendEvent({ session: held.ours, event: copy }));
    if (!isThere && !event.partial) {
      same('an append to nothing', ours, { code: 'SESSION_NOT_FOUND' });
      if (this.known.appendsToNothing) return;
    }
    if (event.partial && this.known.partialsChangeState) return;
    const theirs = await outcomeOf(() => this.theirs.appendEvent({ session: held.theirs, event }));
    if (!isThere && !event.partial) return same('an append to nothing', theirs, { code: 'error' });
    same('an appended event', withoutTemp(ours), withoutTemp(theirs));
    if (!this.known.refreshesObjects) same('the object after an append', shownOf(held.ours), shownOf(held.theirs));
  }

  async #get(): Promise<void> {
    const most = Math.floor(this.random() * 6) + (this.known.zeroIsAll ? 1 : 0);
    const after = this.clock.time - Math.floor(this.random() * 20_000);
    const config = pick(this.random, [
      {},
      { numRecentEvents: most },
      // Between two events.
      { afterTimestamp: after + (this.known.afterIsExclusive ? 0.5 : 0) },
      { numRecentEvents: most, afterTimestamp: after + (this.known.afterIsExclusive ? 0.5 : 0) },
    ]);
    const rounded =
      config.afterTimestamp === undefined ? config : { ...config, afterTimestamp: Math.ceil(config.afterTimestamp) };
    await this.#compare(this.#key(), rounded);
  }

  async #compare(key: { userId: string; sessionId: string }, config: object = {}): Promise<void> {
    const request = { appName: this.appName, ...key, config };
    const [theirs, ours] = [await this.theirs.getSession(request), await this.ours.getSession(request)];
    same(`a session with ${JSON.stringify(config)}`, ours && shownOf(ours), theirs && shownOf(theirs));
    if (theirs && ours) {
      same('the time of the last update', ours.lastUpdateTime, theirs.lastUpdateTime);
      if (Object.keys(config).length === 0) this.#held.push({ theirs, ours });
    }
  }

  async #list(): Promise<void> {
    const userId = pick(this.random, [...USERS, undefined]);
    const order = pick(this.random, ['asc', 'desc'] as const);
    const paging = pick(this.random, [
      {},
      { limit: 0 },
      { limit: 2 },
      { limit: 2, page: 2 },
      { limit: 1, offset: 1 },
      { offset: 1 },
    ]);
    const request = { appName: this.appName, ...(userId && { userId }), order, ...paging };
    const shown = async (service: BaseSessionService) => {
      const { sessions, ...totals } = await service.listSessions(request);
      const listed = sessions.map(({ id, userId: owner, state, lastUpdateTime, events }) => {
        return { id, owner, lastUpdateTime, events, ...(!this.known.listsNoState && { state: { ...state } }) };
      });
      return { listed, totals };
    };
    same(`a list by ${JSON.stringify(request)}`, await shown(this.ours), await shown(this.theirs));
  }

  async #delete(): Promise<void> {
    const key = this.#key();
    await this.theirs.deleteSession(key);
    await this.ours.deleteSession(key);
  }

  #key(): { appName: string; userId: string; sessionId: string } {
    return { appName: this.appName, userId: pick(this.random, USERS), sessionId: pick(this.random, IDS) };
  }
}

async function outcomeOf<Result>(call: () => Promise<Result>): Promise<Result | { readonly code: string }> {
  try {
    return await call();
  } catch (error) {
    return { code: error instanceof SessionsError ? error.code : 'error' };
  }
}

function isSession(outcome: Session | { readonly code: string }): outcome is Session {
  return 'events' in outcome;
}

/** What a session shows, as JSON. The order of keys is not a part of it. */
function shownOf({ id, appName, userId, state, events }: Session): unknown {
  const kept = Object.entries(state).filter(([key]) => !key.startsWith('temp:'));
  return { id, appName, userId, state: Object.fromEntries(kept), events: events.map(withoutTemp) };
}

function withoutTemp(shown: unknown): unknown {
  return JSON.parse(JSON.stringify(shown));
}

function same(what: string, ours: unknown, theirs: unknown): void {
  const [left, right] = [ours, theirs].map((value) => (value === undefined ? undefined : withoutTemp(value)));
  if (isDeepStrictEqual(left, right)) return;
  expect({ [what]: left }).toEqual({ [what]: right });
}
