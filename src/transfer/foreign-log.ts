import type { EventInput, EventLike, LoggedEvent } from '../sessions/domain/event/event.js';
import { idProblem } from '../sessions/domain/values/ids.js';
import { LogReplay } from '../sessions/domain/history/log-replay.js';
import { StateFold, stateDifference } from '../sessions/domain/history/state-history.js';
import { loggedEvent } from '../sessions/domain/stored/stored-json.js';
import { submitEvent } from '../sessions/domain/write/submitted-event.js';
import { type ModelUsage, usageByModel } from '../sessions/domain/usage/usage.js';
import { RESERVED } from '../sessions/domain/values/reserved-words.js';
import type { EventLine, SessionLine } from './transfer-records.js';

/** Other systems have larger events than the default limits allow. */
const LIMITS = { maxEventBytes: 16 * 1_048_576, maxDepth: 64, maxDeltaKeys: 100_000 };

const STATE_EVENT = `${RESERVED.ids.imported}state`;

/** An event of another system. */
export interface ForeignEvent extends EventInput {
  /** This event is a summary of all before it. */
  readonly isSummary?: boolean | undefined;
  /** This event takes the conversation back to before the first event of an invocation. */
  readonly rewindBefore?: string | undefined;
}

/**
 * Numbers events of another system, and makes them events of this package. For the same events it gives the same ones, so that an
 * import can be repeated. Partial events are left out.
 */
export class ForeignLog {
  readonly #replay = new LogReplay();
  readonly #ids = new Set<string>();
  readonly #firstOfInvocation = new Map<string, number>();
  readonly #usage: ModelUsage[] = [];
  readonly #touched = new Set<string>();
  readonly #fold = new StateFold({});
  #seq = 0;
  #tipSeq = 0;
  #marksSeq = 0;

  /** @param time of events without a timestamp */
  constructor(private readonly time: number) {}

  get lastSeq(): number {
    return this.#seq;
  }

  add({ isSummary, rewindBefore, ...given }: ForeignEvent): EventLine | undefined {
    if (given.partial === true) return undefined;
    const seq = this.#seq + 1;
    const actions = { ...given.actions };
    const toSeq = this.#toSeqOf(rewindBefore);
    // With nothing before it, it stands where it is.
    if (isSummary && seq > 1) actions.compaction = { fromSeq: 1, toSeq: seq - 1 };
    else if (toSeq !== undefined) actions.rewind = { toSeq };
    const input = { ...given, id: this.#idOf(given.id, seq), actions, author: chooseEventAuthor(given) };
    const { event, payload, usage } = submitEvent(input, {
      limits: LIMITS,
      clock: { now: () => this.time },
      newId: () => importedId(seq),
    });
    this.#seq = seq;
    this.#note(loggedEvent({ payload, seq }), actions);
    if (usage) this.#usage.push(usage);
    if (this.#usage.length > 1_000) this.#usage.splice(0, Infinity, ...usageByModel(this.#usage));
    return { kind: 'event', seq, appendedAt: Math.floor(event.timestamp), payload };
  }

  /** The event that makes the state what the other system says, where that does not follow from its events. */
  closing(state: Readonly<Record<string, unknown>>): EventLine | undefined {
    const { stateDelta, stateRemovals } = stateDifference(this.#stateAfter(state), state);
    if (Object.keys(stateDelta).length + stateRemovals.length === 0) return undefined;
    return this.add({ id: STATE_EVENT, author: 'system', actions: { stateDelta, stateRemovals: [...stateRemovals] } });
  }

  /** The fields of the session's record that follow from the events. */
  derived(): Pick<SessionLine, 'lastSeq' | 'tipSeq' | 'counters' | 'marks' | 'marksSeq' | 'usage'> {
    return {
      lastSeq: this.#seq,
      tipSeq: this.#tipSeq,
      counters: this.#replay.countsAt(this.#seq),
      marks: this.#replay.marksAt(this.#seq),
      marksSeq: this.#marksSeq,
      usage: usageByModel(this.#usage),
    };
  }

  /** Keys that no event changed had their values before the first one. */
  baseState(state: Readonly<Record<string, unknown>>): Record<string, unknown> {
    return Object.fromEntries(Object.entries(state).filter(([key]) => !this.#touched.has(key)));
  }

  #stateAfter(state: Readonly<Record<string, unknown>>): Record<string, unknown> {
    return { ...this.baseState(state), ...this.#fold.toRecord() };
  }

  #note(event: LoggedEvent, actions: EventInput['actions'] & object): void {
    this.#replay.add(event);
    this.#fold.add(event);
    for (const key of [...Object.keys(event.actions.stateDelta), ...(event.actions.stateRemovals ?? [])])
      this.#touched.add(key);
    if (!actions.compaction) this.#tipSeq = event.seq;
    if (actions.compaction ?? actions.rewind) this.#marksSeq = event.seq;
    const { invocationId } = event;
    if (!this.#firstOfInvocation.has(invocationId)) this.#firstOfInvocation.set(invocationId, event.seq);
  }

  #toSeqOf(invocationId: string | undefined): number | undefined {
    const first = invocationId === undefined ? undefined : this.#firstOfInvocation.get(invocationId);
    return first === undefined ? undefined : first - 1;
  }

  /** An id that is not valid here, or not unique, is replaced. */
  #idOf(id: unknown, seq: number): string {
    const valid = idProblem(id) === undefined && !this.#ids.has(id as string) ? (id as string) : importedId(seq);
    this.#ids.add(valid);
    return valid;
  }
}

function importedId(seq: number): string {
  return RESERVED.ids.imported + String(seq);
}

function chooseEventAuthor({ author, content }: EventLike): string {
  if (typeof author === 'string' && author.trim() !== '') return author;
  return content?.role === 'user' ? 'user' : 'agent';
}
