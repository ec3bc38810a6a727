import assert from 'node:assert/strict';
import type { Session, SessionService } from '../../src/index.js';
import type { ManualClock } from './clock.js';
import type { Entry, GivenEvent } from './model/entries.js';
import type { Model } from './model/model.js';
import type { ModelObject } from './model/model-object.js';
import type { ModelKey } from './model/model-session.js';
import type { EventDraft, Expectation, Target } from './operations.js';
import { type Outcome, outcomeOf, seenObject, seenSession, valueOf } from './observations.js';

/** A session object of the service, and what the model holds in its place. */
export interface Pair {
  readonly real: Session;
  readonly model: ModelObject;
}

/** Whom an operation is about: through an object at hand, or by key alone. */
export interface ResolvedTarget {
  readonly key: ModelKey;
  readonly pair: Pair | undefined;
  readonly session: Session | { readonly id: string; readonly appName: string; readonly userId: string };
}

/** Callers hold few objects, and hardly any of sessions that are gone, or most operations would be refused. */
const MOST_OBJECTS = 6;
const MOST_OF_GONE_SESSIONS = 1;

/** Service and model side by side, with the same clock, and the session objects that their caller holds. */
export class LockStep {
  readonly given = new WeakMap<Entry['event'], GivenEvent>();
  #pairs: Pair[] = [];

  constructor(
    readonly service: SessionService,
    readonly model: Model,
    readonly clock: ManualClock,
  ) {}

  get pairs(): readonly Pair[] {
    return this.#pairs;
  }

  hold(pair: Pair): void {
    this.#pairs = [...this.#pairs, pair].slice(-MOST_OBJECTS);
  }

  pairAt(place: number): Pair | undefined {
    const isGone = ({ model }: Pair) => this.model.store.live(model.session.key) !== model.session;
    const gone = new Set(this.#pairs.filter(isGone).slice(0, -MOST_OF_GONE_SESSIONS));
    this.#pairs = this.#pairs.filter((pair) => !gone.has(pair));
    return this.#pairs[place % this.#pairs.length];
  }

  resolve(target: Target): ResolvedTarget {
    const pair = 'object' in target ? this.pairAt(target.object) : undefined;
    const key = pair?.model.session.key ?? ('key' in target ? target.key : UNKNOWN);
    return { key, pair, session: pair?.real ?? { ...key, id: key.sessionId } };
  }

  versionOf(expected: Expectation, { key, pair }: Pick<ResolvedTarget, 'key' | 'pair'>): number | undefined {
    if (expected === 'anything') return undefined;
    if (expected === 'as loaded') return pair?.real.version;
    return Math.max(0, (this.model.store.live(key)?.lastSeq ?? 0) + expected);
  }

  draftOf({ delta, removals, parts, author, age, inSeconds, ...draft }: EventDraft): GivenEvent {
    const time = age === undefined ? undefined : this.clock.now() - age;
    return {
      ...draft,
      author,
      ...(parts && { content: { role: author, parts: [...parts] } }),
      ...(time !== undefined && { timestamp: inSeconds ? Math.round(time / 1000) : time }),
      actions: { stateDelta: Object.fromEntries(delta), stateRemovals: [...removals] },
    };
  }

  /** Does the same on both sides; the model is told what the service chose, such as ids. */
  async both<R, M>(
    real: () => Promise<R>,
    model: (result: R | undefined) => M,
    compare: (real: Outcome<R>, model: Outcome<M>) => void,
  ): Promise<{ real: R | undefined; model: M | undefined }> {
    const realOutcome = await outcomeOf(real);
    const modelOutcome = await outcomeOf(() => model(valueOf(realOutcome)));
    compare(realOutcome, modelOutcome);
    return { real: valueOf(realOutcome), model: valueOf(modelOutcome) };
  }

  checkPair({ real, model }: Pair): void {
    same(seenSession(real, model.isCertain), seenObject(model, model.isCertain), 'session object');
  }
}

const UNKNOWN: ModelKey = { appName: 'nobody', userId: 'nobody', sessionId: 'nobody' };

export function same(real: unknown, model: unknown, what: string): void {
  const [actual, expected] = [JSON.stringify(real, null, 1), JSON.stringify(model, null, 1)];
  if (actual !== expected) assert.equal(actual, expected, `${what} differs:\nreal ${actual}\nmodel ${expected}`);
}
