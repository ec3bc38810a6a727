import type { RemoteKey, StateAtMoment, StateChangePage, WatchedEvent } from '../../../src/client/index.js';
import type { LoggedEvent } from '../../../src/sessions/domain/event/event.js';
import { type Answer, isAnswer } from '../../../src/sessions/domain/event/event-inspection.js';
import {
  type ModelRequestReport,
  isOfSameAgent,
  toRequestReport,
} from '../../../src/sessions/domain/event/request-report.js';
import { StateFold, changesBy } from '../../../src/sessions/domain/history/state-history.js';
import { estimateTokens } from '../../../src/sessions/domain/view/token-estimate.js';
import { isInView } from '../../../src/sessions/domain/view/view-reason.js';
import type { ViewExplanation } from '../../../src/sessions/operations/explain-view.js';
import type { EventPage } from '../../../src/sessions/operations/list-events.js';
import type { SessionReads, ShownSession } from '../session-reads.js';
import type { SessionCopy } from './session-copy.js';

const PAGE = 100;
/** The state is kept after every so many events, so that a step through a long log does not begin at its start. */
const STEP = 1_000;

type Request<Name extends Exclude<keyof SessionReads, 'isCopy'>> = Parameters<SessionReads[Name]>[0];

/** Answers from a copy. The state is what its events make of the state before them, as in the app. */
export class CopyReads implements SessionReads {
  readonly isCopy = true;
  readonly #points: StateAtMoment[];

  constructor(private readonly copy: SessionCopy) {
    this.#points = [copy.before];
  }

  async getSession(_key: RemoteKey): Promise<ShownSession> {
    const { session, view, events } = this.copy;
    const bySeq = new Map(events.map((event) => [event.seq, event]));
    const known = (each: number | LoggedEvent): LoggedEvent | undefined =>
      typeof each === 'number' ? bySeq.get(each) : each;
    return { ...session, events: view.flatMap((each) => known(each) ?? []) };
  }

  async listEvents(request: Request<'listEvents'>): Promise<EventPage> {
    const { afterSeq = 0, beforeSeq = Infinity, limit = PAGE, order = 'asc', cursor, modelRequests = false } = request;
    const isUpwards = order === 'asc';
    const after = isUpwards ? Math.max(afterSeq, Number(cursor ?? 0)) : afterSeq;
    const before = isUpwards ? beforeSeq : Math.min(beforeSeq, Number(cursor ?? Infinity));
    const between = this.#eventsBetween(after, before);
    const wanted = modelRequests ? between.filter(isAnswer) : between;
    const events = isUpwards ? wanted.slice(0, limit) : wanted.toReversed().slice(0, limit);
    const end = events.length < wanted.length ? events.at(-1) : undefined;
    return { events, ...this.#range(), ...(end && { nextCursor: String(end.seq) }) };
  }

  async explainView({
    fromSeq = 1,
    atSeq = Infinity,
    toSeq = atSeq,
  }: Request<'explainView'>): Promise<Pick<ViewExplanation, 'events'>> {
    const { decisions } = this.copy;
    const events = this.#eventsBetween(fromSeq - 1, toSeq + 1).flatMap(({ seq, id, author, content }) => {
      const run = decisions.find(([from, to]) => seq >= from && seq <= to);
      if (!run) return [];
      const [, , reason, by] = run;
      return { seq, id, author, inView: isInView(reason), reason, by, tokens: estimateTokens(content) };
    });
    return { events };
  }

  /** A copy has the hashes of instructions and tools, and not what they say. */
  async getModelRequest({ seq, since }: Request<'getModelRequest'>): Promise<ModelRequestReport | undefined> {
    const answers = this.copy.events.filter(isAnswer);
    const answer = answers.find((each) => each.seq === seq);
    if (!answer) return undefined;
    const isMeant = (other: Answer): boolean =>
      since === undefined ? other.seq < seq && isOfSameAgent(other, answer) : other.seq === since;
    const { promptHash, toolsHash } = answer.modelRequest;
    return toRequestReport(answer, answers.findLast(isMeant), {
      ...(promptHash !== undefined && { instructions: { hash: promptHash, isKept: false } }),
      ...(toolsHash !== undefined && { tools: { hash: toolsHash, isKept: false } }),
    });
  }

  async stateAt({ seq }: Request<'stateAt'>): Promise<StateAtMoment> {
    return momentOf(seq, this.#foldAt(seq));
  }

  /** Pages end with a whole event, so they may have some changes more than `limit`. */
  async stateChanges(request: Request<'stateChanges'>): Promise<StateChangePage> {
    const { key, afterSeq = 0, limit = PAGE, cursor } = request;
    const after = Math.max(afterSeq, Number(cursor ?? 0), this.copy.before.seq);
    const fold = this.#foldAt(after);
    const changes: StateChangePage['changes'] = [];
    for (const event of this.#eventsBetween(after, Infinity)) {
      if (changes.length >= limit) return { changes, ...this.#range(), nextCursor: String(event.seq - 1) };
      changes.push(...changesBy(event, fold).filter((change) => key === undefined || change.key === key));
      fold.add(event);
    }
    return { changes, ...this.#range() };
  }

  /** A copy does not go on. */
  watch(): AsyncIterableIterator<WatchedEvent> {
    return (async function* () {})();
  }

  #foldAt(seq: number): StateFold {
    const { before, session } = this.copy;
    if (seq < before.seq) throw new RangeError(`The state before event ${before.seq + 1} is not in this copy.`);
    if (seq > session.version) throw new RangeError(`Event ${seq} is not in this copy.`);
    const nearest = Math.min(Math.floor((seq - before.seq) / STEP), this.#points.length - 1);
    const { seq: from, state, shared } = this.#points[nearest] ?? before;
    const fold = new StateFold(state, shared);
    for (const event of this.#eventsBetween(from, seq + 1)) {
      fold.add(event);
      if (event.seq === before.seq + STEP * this.#points.length) this.#points.push(momentOf(event.seq, fold));
    }
    return fold;
  }

  #eventsBetween(after: number, before: number): LoggedEvent[] {
    return this.copy.events.filter(({ seq }) => seq > after && seq < before);
  }

  #range(): Pick<EventPage, 'firstSeq' | 'lastSeq'> {
    return { firstSeq: this.copy.before.seq + 1, lastSeq: this.copy.session.version };
  }
}

function momentOf(seq: number, fold: StateFold): StateAtMoment {
  return { seq, state: fold.toRecord(), shared: fold.toShared() };
}
