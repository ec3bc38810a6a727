import assert from 'node:assert/strict';
import type { Session, SessionService } from '../../src/index.js';
import type { ManualClock } from './clock.js';
import type { Entry, GivenEvent } from './model/entries.js';
import type { Model } from './model/model.js';
import type { ModelObject } from './model/model-object.js';
import type { ModelKey } from './model/model-session.js';
import type { ModelTurnPart } from './model/turns.js';
import type { EventDraft, Expectation, Target, TurnChoice } from './operations.js';
import { type Outcome, outcomeOf, seenObject, seenSession, valueOf } from './observations.js';

/** A session object of the service and its counterpart in the model. */
export interface Pair {
  readonly real: Session;
  readonly model: ModelObject;
}

/** The target of an operation: an object that the caller holds, or a key. */
export interface ResolvedTarget {
  readonly key: ModelKey;
  readonly pair: Pair | undefined;
  readonly session: Session | { readonly id: string; readonly appName: string; readonly userId: string };
}

/**
 * A caller holds few objects, and at most one of a session that no longer exists, so that most operations are not
 * refused.
 */
const MAX_OBJECTS = 6;
const MAX_OF_MISSING_SESSIONS = 1;
const MAX_TURNS = 4;

/** A turn that was begun. */
interface BegunTurn {
  readonly key: ModelKey;
  readonly token: string;
}

/** Runs service and model side by side with the same clock, and holds the caller's session objects. */
export class LockStep {
  readonly given = new WeakMap<Entry['event'], GivenEvent>();
  #pairs: Pair[] = [];
  #turns: BegunTurn[] = [];

  constructor(
    readonly service: SessionService,
    readonly model: Model,
    readonly clock: ManualClock,
  ) {}

  get pairs(): readonly Pair[] {
    return this.#pairs;
  }

  hold(pair: Pair): void {
    this.#pairs = [...this.#pairs, pair].slice(-MAX_OBJECTS);
  }

  pairAt(place: number): Pair | undefined {
    const isGone = ({ model }: Pair) => this.model.store.live(model.session.key) !== model.session;
    const gone = new Set(this.#pairs.filter(isGone).slice(0, -MAX_OF_MISSING_SESSIONS));
    this.#pairs = this.#pairs.filter((pair) => !gone.has(pair));
    return this.#pairs[place % this.#pairs.length];
  }

  holdTurn(turn: BegunTurn): void {
    this.#turns = [...this.#turns.filter(({ token }) => token !== turn.token), turn].slice(-MAX_TURNS);
  }

  turnAt(place: number): BegunTurn | undefined {
    return this.#turns[place % this.#turns.length];
  }

  /** No turn if none was begun. */
  turnOf(choice: TurnChoice | undefined, key: ModelKey): ModelTurnPart | undefined {
    if (!choice) return undefined;
    const { which, ends } = choice;
    const token = which === 'last' ? this.model.store.live(key)?.turn?.token : this.turnAt(which)?.token;
    return token === undefined ? undefined : { token, ends };
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

  draftOf({
    delta,
    removals,
    metadata,
    parts,
    author,
    age,
    inSeconds,
    asked: _asked,
    ...draft
  }: EventDraft): GivenEvent {
    const time = age === undefined ? undefined : this.clock.now() - age;
    return {
      ...draft,
      author,
      ...(parts && { content: { role: author, parts: [...parts] } }),
      ...(time !== undefined && { timestamp: inSeconds ? Math.round(time / 1000) : time }),
      actions: {
        stateDelta: Object.fromEntries(delta),
        stateRemovals: [...removals],
        ...(metadata && { metadataDelta: structuredClone(metadata) }),
      },
    };
  }

  /** Runs an operation on both sides. The model gets the result of the service, for generated ids. */
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

const UNKNOWN: ModelKey = { appName: 'unknown', userId: 'unknown', sessionId: 'unknown' };

export function same(real: unknown, model: unknown, what: string): void {
  if (JSON.stringify(real) === JSON.stringify(model)) return;
  const [actual, expected] = [JSON.stringify(real, null, 1), JSON.stringify(model, null, 1)];
  assert.equal(actual, expected, `${what} differs:\nreal ${actual}\nmodel ${expected}`);
}
