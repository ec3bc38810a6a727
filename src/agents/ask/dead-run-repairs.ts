import type { EventInput, LoggedEvent } from '../../sessions/domain/event/event.js';
import { eventBy, formatSpeakerName } from '../../sessions/domain/event/open-calls.js';
import { type StreamedEvent, streamedEvents } from '../../sessions/domain/stored/partial-text.js';
import { isInRanges } from '../../sessions/domain/values/seq-ranges.js';
import { incarnationOf } from '../../sessions/domain/session/session-tracking.js';
import type { Session } from '../../sessions/domain/session/session.js';
import type { HeldTurn } from '../../sessions/operations/turns.js';
import type { AgentEnvironment } from '../turn/agent-environment.js';
import {
  approvalMarksIn,
  hasApprovals,
  isAskedBy,
  waitingEvent,
  withoutApprovals,
} from '../invocation/approval-requests.js';
import { dequeuedEvent, discardsOf, queuedIn } from '../turn/control-events.js';
import type { DueRun } from './due-run.js';
import { InvocationEnd, interruptedResponses } from '../invocation/invocation-end.js';
import { lastInvocation, showsLastInvocation } from '../invocation/last-invocation.js';
import { readNewestUntil } from './queue.js';
import { withoutRewound } from '../../sessions/domain/view/without-rewound.js';
import { storedInvocation } from '../turn/stored-invocation.js';

/** What earlier turns have left for this one: an invocation that is not done, and messages that were said in part. */
export class DeadRunRepairs {
  /** What was read for a narrow view. */
  #newest: { readonly session: Session; readonly events: readonly LoggedEvent[] } | undefined;
  #messageIds: readonly string[] = [];

  constructor(
    private readonly env: AgentEnvironment,
    private readonly due: DueRun,
  ) {}

  /** The messages of {@link said}. The next commit removes their pieces. */
  get messageIds(): readonly string[] {
    return this.#messageIds;
  }

  /** A view that was narrowed for the handler may not show how the last invocation ended. */
  async newestEvents(session: Session): Promise<readonly LoggedEvent[]> {
    if (this.due.config === undefined || session.version === 0) return session.events;
    if (this.#newest?.session === session) return this.#newest.events;
    const events = await readNewestUntil(this.env.sessions, this.due.key, (newest) =>
      showsLastInvocation(withoutRewound(newest)),
    );
    this.#newest = { session, events: withoutRewound(events) };
    return this.#newest.events;
  }

  /** What was said before a turn died, and is in no event. */
  async said(session: Session): Promise<StreamedEvent[]> {
    const incarnation = incarnationOf(session);
    if (!this.env.partials || incarnation === undefined) return [];
    const log = { key: this.due.key, incarnation, afterSeq: session.version, limit: 0, afterPartial: 0 };
    const [found] = await this.env.storage.tails([log]);
    const said = streamedEvents([], found?.partials ?? [], { seq: session.version, partial: 0 });
    this.#messageIds = [...new Set(said.map(({ id }) => id))];
    return said;
  }

  /** The events that close the last invocation, if it is another one, and its process died in it. What it asks stays asked. */
  async repairs(session: Session, turn: HeldTurn): Promise<EventInput[]> {
    const { env, due } = this;
    const last = lastInvocation(await this.newestEvents(session));
    if (!last || last.invocationId === due.invocationId) return [];
    const { invocationId, messageSeq } = last;
    // Only a message that interrupts gets its turn before one that was handed over.
    const isHandedOver = queuedIn(session).has(invocationId);
    const isClosed = !isHandedOver && new InvocationEnd(this.due.agentName, last.events).isClosed;
    // After the final event of one agent, another one may have spoken when the process died.
    if (isClosed && !turn.takesOver) return [];
    const said = await this.said(session);
    const ofLast = said.filter((event) => event.invocationId === invocationId);
    if (isClosed && ofLast.length === 0) return discardsOf(said);
    // The view may omit events of a long invocation.
    const { events, rewound } = await storedInvocation(env, due.key, messageSeq);
    const kept = events.filter(({ seq }) => !isInRanges(seq, rewound));
    if (!isHandedOver && hasApprovals(session, isAskedBy(invocationId))) {
      return [...discardsOf(said), ...this.#waiting(session, invocationId, kept)];
    }
    const idOf = new Map(ofLast.map((event) => [formatSpeakerName(event), event.id]));
    const why = isHandedOver ? 'interrupted' : 'died';
    const closing = new InvocationEnd(this.due.agentName, [...kept, ...ofLast])
      .closing(invocationId, why)
      .map((event) => {
        const id = event.interrupted ? idOf.get(formatSpeakerName(event)) : undefined;
        return id === undefined ? event : { ...event, id };
      });
    const completed = new Set(closing.map(({ id }) => id));
    const discarded = discardsOf(said.filter(({ id }) => !completed.has(id)));
    const dequeued = isHandedOver ? [dequeuedEvent([invocationId])] : [];
    return [...discarded, ...dequeued, ...withoutApprovals(closing, session, isAskedBy(invocationId))];
  }

  /** What leaves an invocation waiting for its approvals: who is asked may answer later than a process lives. */
  #waiting(session: Session, invocationId: string, events: readonly LoggedEvent[]): EventInput[] {
    const end = new InvocationEnd(this.due.agentName, events);
    if (end.isWaiting) return [];
    const marks = [...approvalMarksIn(session.id, session.metadata).values()];
    const mark = marks.find((each) => each.invocationId === invocationId);
    const author = mark?.runBy ?? mark?.agentName ?? this.due.agentName;
    const waiting = { ...eventBy({ author }, invocationId), ...waitingEvent() };
    return [...interruptedResponses(invocationId, events, end, session), waiting];
  }
}
