import type { AppendOutcome, Commit } from '../domain/stored/commit.js';
import { StoreUnavailableError } from '../domain/errors/errors.js';
import { isExpired } from '../domain/values/expiry.js';
import type { SessionKey, StateOwner } from '../domain/values/ids.js';
import { KeptEvent } from '../domain/stored/kept-event.js';
import type { CommitEvent, SessionRecord } from '../domain/stored/session-record.js';
import { scopesWritten } from '../domain/stored/stored-json.js';
import type { Held, HeldSession } from '../storage/planned-write.js';
import type { Decided, SessionChange } from './session-change.js';
import { type SessionPlan, UNCOUNTED_STATE } from './session-plan.js';

/** What an operation decided: `changed` has to be written, `refused` is no change, `unknown` needs more than the plan has. */
export type Decision = 'changed' | 'refused' | 'unknown';

/** A change of a session that waits to be decided and written. */
export interface Operation {
  readonly key: SessionKey;
  /** Of events that the log must not have. */
  readonly ids: readonly string[];
  readonly characters: number;
  /** Whether its session is held at once, and no other operation on it may be in the same write. */
  readonly isAlone: boolean;
  /** Whether it decides on metadata. */
  readonly withMetadata: boolean;
  /** The users and apps to whose state it may write. */
  readonly owners: readonly StateOwner[];
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
  protected inDoubt: { readonly outcome: Outcome } | undefined;

  constructor(
    protected readonly resolve: (outcome: Outcome) => void,
    private readonly reject: (error: unknown) => void,
  ) {}

  /** What was decided last. */
  get decided(): Outcome | undefined {
    return this.outcome;
  }

  settle(): void {
    this.resolve(this.outcome as Outcome);
  }

  doubt(): void {
    this.inDoubt = { outcome: this.outcome as Outcome };
  }

  /** A write that fails after one in doubt leaves the doubt. */
  fail(error: unknown): void {
    const isInDoubt = this.inDoubt !== undefined && error instanceof StoreUnavailableError;
    this.reject(isInDoubt ? error.withOutcome(true) : copyStoreError(error));
  }
}

/** An error of its own for each caller, because the service notes the event in it. */
function copyStoreError(error: unknown): unknown {
  return error instanceof StoreUnavailableError ? error.withOutcome(error.outcomeUnknown) : error;
}

/** The refusals that do not apply to an event that is stored. */
const MAY_BE_REPEATED: ReadonlySet<AppendOutcome['kind']> = new Set([
  'turnLost',
  'turnRequired',
  'stale',
  'unknownEvent',
  'overtaken',
  'full',
  'stateFull',
]);

/** Appends a commit. */
export class PendingAppend extends Pending<AppendOutcome> implements Operation {
  readonly isAlone = false;
  readonly ids: readonly string[];
  readonly characters: number;

  constructor(
    private readonly commit: Commit,
    resolve: (outcome: AppendOutcome) => void,
    reject: (error: unknown) => void,
  ) {
    super(resolve, reject);
    this.ids = commit.events.map(({ id }) => id);
    this.characters = commit.events.reduce((sum, event) => sum + countEventCharacters(event), 0);
  }

  get key(): SessionKey {
    return this.commit.key;
  }

  get withMetadata(): boolean {
    return (this.commit.metadata?.length ?? 0) > 0;
  }

  get owners(): readonly StateOwner[] {
    return scopesWritten(this.commit);
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
    this.outcome = this.#isDoneBy(outcome) ? this.inDoubt?.outcome : outcome;
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
    const done = this.inDoubt?.outcome;
    if (outcome.kind !== 'seen' || done?.kind !== 'appended') return false;
    const first = done.record.lastSeq - outcome.events.length + 1;
    return outcome.events.every((event, index) => event?.seq === first + index && event.appendedAt === done.now);
  }
}

function mayHaveMissedEvents(outcome: AppendOutcome): boolean {
  return outcome.kind === 'seen' ? outcome.events.includes(undefined) : MAY_BE_REPEATED.has(outcome.kind);
}

/** Events that stay in this process are not made texts. */
function countEventCharacters(event: CommitEvent): number {
  return event instanceof KeptEvent ? 0 : event.payload.length;
}

/** A change that is no commit. */
export class PendingChange<Outcome> extends Pending<Outcome> implements Operation {
  readonly ids: readonly string[] = [];
  readonly withMetadata = false;

  constructor(
    private readonly change: SessionChange<Outcome>,
    resolve: (outcome: Outcome) => void,
    reject: (error: unknown) => void,
  ) {
    super(resolve, reject);
  }

  get key(): SessionKey {
    return this.change.key;
  }

  get characters(): number {
    return this.change.characters ?? 0;
  }

  get isAlone(): boolean {
    return this.change.isRare ?? false;
  }

  get owners(): readonly StateOwner[] {
    const { key, renews } = this.change;
    const { appName, userId } = key;
    return [...(renews?.app ? [{ appName }] : []), ...(renews?.user ? [{ appName, userId }] : [])];
  }

  decide(plan: SessionPlan, now: number): Decision {
    const { outcome, change } = this.#decided(plan.record, now);
    this.outcome = outcome;
    if (!change) return 'refused';
    plan.change(change);
    return 'changed';
  }

  async decideHeld(plan: SessionPlan | undefined, _session: HeldSession, held: Held): Promise<void> {
    const { inDoubt, change } = this;
    if (!plan) this.outcome = change.missing;
    else if (inDoubt && change.isDone?.(plan.record, inDoubt.outcome)) this.outcome = inDoubt.outcome;
    else this.decide(plan, held.now);
  }

  #decided(record: SessionRecord, now: number): Decided<Outcome> {
    return isExpired(record.expiresAt, now) ? { outcome: this.change.missing } : this.change.decide(record, now);
  }
}
