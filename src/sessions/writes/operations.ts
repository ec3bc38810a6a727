import type { AppendOutcome, Commit } from '../domain/commit.js';
import { StoreUnavailableError } from '../domain/errors.js';
import type { SessionKey } from '../domain/ids.js';
import { KeptEvent } from '../domain/kept-event.js';
import type { CommitEvent } from '../domain/session-record.js';
import type { SharedPart } from '../domain/stored-json.js';
import type { StoredTurn, TurnOutcome, TurnRequest } from '../domain/turn.js';
import type { Held, HeldSession } from '../storage/planned-write.js';
import { type SessionPlan, UNCOUNTED_STATE } from './session-plan.js';

/** What an operation decided: `changed` has to be written, `refused` is no change, `unknown` needs more than the plan has. */
export type Decision = 'changed' | 'refused' | 'unknown';

/** A change of a session that waits to be decided and written. */
export interface Operation {
  readonly key: SessionKey;
  /** Of events that the log must not have. */
  readonly ids: readonly string[];
  readonly characters: number;
  /** Whether it decides on metadata. */
  readonly withMetadata: boolean;
  /** What it does to the state of users and apps. */
  readonly shared: SharedPart | undefined;
  readonly calledAt: number;
  /** Decides on what the plan leaves. It may be called again with another plan. */
  decide(plan: SessionPlan, now: number): Decision;
  /** The same for a session that is held; undefined if there is none. */
  decideHeld(plan: SessionPlan | undefined, session: HeldSession, held: Held): Promise<void>;
  /** What was decided last is so. */
  settle(): void;
  /** What was decided last may be so: an answer is lost. */
  doubt(): void;
  fail(error: unknown): void;
}

/** The part that all operations have: a promise of the outcome. */
abstract class Pending<Outcome> {
  readonly calledAt = performance.now();
  protected outcome: Outcome | undefined;
  protected inDoubt: Outcome | undefined;

  constructor(
    protected readonly resolve: (outcome: Outcome) => void,
    private readonly reject: (error: unknown) => void,
  ) {}

  /** What was decided last. */
  get decided(): Outcome | undefined {
    return this.outcome;
  }

  settle(): void {
    if (this.outcome !== undefined) this.resolve(this.outcome);
  }

  doubt(): void {
    this.inDoubt = this.outcome;
  }

  /** A write that fails after one in doubt leaves the doubt. */
  fail(error: unknown): void {
    const isInDoubt = this.inDoubt !== undefined && error instanceof StoreUnavailableError;
    this.reject(isInDoubt ? error.withOutcome(true) : copyOf(error));
  }
}

/** An error of its own for each caller, because the service notes the event in it. */
function copyOf(error: unknown): unknown {
  return error instanceof StoreUnavailableError ? error.withOutcome(error.outcomeUnknown) : error;
}

/** The refusals that do not apply to an event that is stored. */
const MAY_BE_REPEATED: ReadonlySet<AppendOutcome['kind']> = new Set([
  'turnLost',
  'turnRequired',
  'stale',
  'overtaken',
  'full',
  'stateFull',
]);

/** Appends a commit. */
export class PendingAppend extends Pending<AppendOutcome> implements Operation {
  readonly ids: readonly string[];
  readonly characters: number;

  constructor(
    private readonly commit: Commit,
    resolve: (outcome: AppendOutcome) => void,
    reject: (error: unknown) => void,
  ) {
    super(resolve, reject);
    this.ids = commit.events.map(({ id }) => id);
    this.characters = commit.events.reduce((sum, event) => sum + charactersOf(event), 0);
  }

  get key(): SessionKey {
    return this.commit.key;
  }

  get withMetadata(): boolean {
    return (this.commit.metadata?.length ?? 0) > 0;
  }

  get shared(): SharedPart {
    return this.commit;
  }

  decide(plan: SessionPlan, now: number): Decision {
    const decided = plan.append(this.commit, now);
    if (decided === UNCOUNTED_STATE) return 'unknown';
    this.outcome = decided;
    return decided.kind === 'appended' ? 'changed' : 'refused';
  }

  async decideHeld(plan: SessionPlan | undefined, session: HeldSession, held: Held): Promise<void> {
    const outcome = plan ? await this.#outcomeIn(plan, session, held) : ({ kind: 'missing' } as const);
    if (outcome.kind === 'appended') held.scopes.add(this.commit);
    this.outcome = this.#isDoneBy(outcome) ? this.inDoubt : outcome;
  }

  /** What was read before a wait may lack events that were stored meanwhile, so it is read again before a repeated append is refused. */
  async #outcomeIn(plan: SessionPlan, session: HeldSession, held: Held): Promise<AppendOutcome> {
    const excess = await held.scopes.excessOf(this.commit);
    const append = async (): Promise<AppendOutcome> => {
      const outcome = plan.append(this.commit, held.now, excess);
      if (outcome !== UNCOUNTED_STATE) return outcome;
      plan.setStateSize(await session.countState());
      return plan.append(this.commit, held.now, excess) as AppendOutcome;
    };
    const outcome = await append();
    if (!session.readEvents || !mayHaveMissedEvents(outcome)) return outcome;
    plan.addSeen(await session.readEvents());
    return append();
  }

  /** Whether the events that are stored are those of the write in doubt. */
  #isDoneBy(outcome: AppendOutcome): boolean {
    const { inDoubt } = this;
    if (outcome.kind !== 'seen' || inDoubt?.kind !== 'appended') return false;
    const first = inDoubt.record.lastSeq - outcome.events.length + 1;
    return outcome.events.every((event, index) => event?.seq === first + index && event.appendedAt === inDoubt.now);
  }
}

function mayHaveMissedEvents(outcome: AppendOutcome): boolean {
  return outcome.kind === 'seen' ? outcome.events.includes(undefined) : MAY_BE_REPEATED.has(outcome.kind);
}

/** Events that stay in this process are not made texts. */
function charactersOf(event: CommitEvent): number {
  return event instanceof KeptEvent ? 0 : event.payload.length;
}

/** Begins, renews or ends a turn. */
export class PendingTurn extends Pending<TurnOutcome> implements Operation {
  readonly ids: readonly string[] = [];
  readonly characters = 0;
  readonly withMetadata = false;
  readonly shared = undefined;

  constructor(
    private readonly request: TurnRequest,
    resolve: (outcome: TurnOutcome) => void,
    reject: (error: unknown) => void,
  ) {
    super(resolve, reject);
  }

  get key(): SessionKey {
    return this.request.key;
  }

  decide(plan: SessionPlan, now: number): Decision {
    this.outcome = plan.turn(this.request, now);
    return this.outcome.kind === 'changed' ? 'changed' : 'refused';
  }

  async decideHeld(plan: SessionPlan | undefined, _session: HeldSession, held: Held): Promise<void> {
    const { inDoubt } = this;
    if (!plan) this.outcome = { kind: 'missing' };
    else if (inDoubt?.kind === 'changed' && isSameTurn(plan.record.turn, inDoubt.turn)) this.outcome = inDoubt;
    else this.decide(plan, held.now);
  }
}

/** Whether a turn is as a write in doubt would have left it. */
function isSameTurn(stored: StoredTurn, planned: StoredTurn): boolean {
  return stored.token === planned.token && stored.number === planned.number && stored.expiresAt === planned.expiresAt;
}
