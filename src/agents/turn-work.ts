import {
  EventConflictError,
  SessionNotFoundError,
  StoreUnavailableError,
  TurnLostError,
} from '../sessions/domain/errors.js';
import { isInRanges } from '../sessions/domain/seq-ranges.js';
import type { EventInput, LoggedEvent } from '../sessions/domain/event.js';
import { type StreamedEvent, streamedEvents } from '../sessions/domain/partial-text.js';
import { incarnationOf } from '../sessions/domain/session-tracking.js';
import type { Session } from '../sessions/domain/session.js';
import type { HeldTurn } from '../sessions/operations/turns.js';
import { ApprovalAnsweredError, ApprovalNotFoundError } from './approval-errors.js';
import {
  answerEvent,
  answerIdOf,
  answeredMessageSeq,
  answersIn,
  approvalMarksIn,
  approvalsAskedIn,
  isAskedBy,
  withoutApprovals,
} from './approvals.js';
import type { AgentEnvironment } from './agent-environment.js';
import type { RunEvent } from './agent-run.js';
import {
  type QueueEntry,
  type TakenMessage,
  messageEvent,
  messageIdOf,
  messageOf,
  queuedIn,
  withdrawEvent,
  withdrawnApprovalsEvent,
} from './control-events.js';
import {
  type DueRun,
  isSameContent,
  isWithdrawn,
  messagesOf,
  mustWaitFor,
  othersInQueue,
  wasWithdrawn,
} from './due-run.js';
import { type GivenApproval, checkedAnswer } from './invocation-approvals.js';
import { nameOf } from '../sessions/domain/open-calls.js';
import { InvocationTail, lastInvocation, showsLastInvocation } from './invocation-tail.js';
import { Invocation } from './invocation.js';
import type { StandardSchema } from '../state/standard-schema.js';
import { findMessage, readNewestUntil } from './queue.js';
import type { RunHandler, GivenAnswer, RunResult } from './run-request.js';
import { statusOf } from './run-status.js';
import { type StoredInvocation, findEventOf, storedInvocation, withoutRewound } from './stored-invocation.js';
import { TurnLog } from './turn-log.js';

/** How an invocation goes on. */
interface Continuation {
  /** The caller knows the events up to here. */
  readonly afterSeq?: number;
  /** Starts again with this answer, instead of closing what is open. */
  readonly given?: GivenApproval;
  readonly agentName?: string;
}

/** Others are before it. */
export interface GaveWay {
  readonly queue: readonly QueueEntry[];
}

/** What the invocation of a message does in its turn: repairs the log, takes the message, runs the handler. */
export class TurnWork {
  /** What was read for a narrow view. */
  #newest: { readonly session: Session; readonly events: readonly LoggedEvent[] } | undefined;
  /** Messages that a turn which died has left uncompleted. */
  #leftovers: readonly string[] = [];

  constructor(
    private readonly env: AgentEnvironment,
    private readonly due: DueRun,
    private readonly handler: RunHandler,
    private readonly tell: (event: RunEvent) => void,
    private readonly signal: AbortSignal,
  ) {}

  get invocationId(): string {
    return this.due.invocationId;
  }

  /** @param created the session, if it was created for this run */
  async run(turn: HeldTurn, created: Session | undefined): Promise<RunResult | GaveWay> {
    const { env, due } = this;
    const loaded = created ?? (await env.sessions.getSession({ ...due.key, config: due.config }));
    if (!loaded) throw new SessionNotFoundError(due.key.sessionId);
    if (due.answer) return this.#answered(turn, loaded, due.answer);
    if (due.entry && (await isWithdrawn(env, due, loaded))) {
      return { status: 'stopped', invocationId: due.invocationId, events: [], session: loaded };
    }
    if (!due.entry && due.mayBeRetry && wasWithdrawn(due, await this.#newestEvents(loaded))) {
      return { status: 'stopped', invocationId: due.invocationId, events: [], session: loaded };
    }
    const queue = await othersInQueue(env, due, loaded, turn);
    if (mustWaitFor(due, queue)) return { queue };
    const session = await this.#rewound(loaded, turn);
    const messages = messagesOf(due, queue);
    const earlier = session.events.find(({ id }) => id === messageIdOf(due.invocationId));
    if (earlier) return this.#goOn(turn, session, earlier.seq);
    return this.#beginOnce(turn, session, messages);
  }

  /** A message that was stored before goes on, and one that the store refuses does not stay in the queue. */
  async #beginOnce(turn: HeldTurn, session: Session, messages: readonly TakenMessage[]): Promise<RunResult> {
    const { env, due } = this;
    try {
      return await this.#begin(turn, session, messages);
    } catch (error) {
      const seq = repeatedAt(error, due.invocationId);
      if (seq !== undefined) return this.#goOn(turn, session, seq);
      const isRefused = due.entry !== undefined && queuedIn(session).has(due.invocationId) && !isPassing(error);
      if (!isRefused) throw error;
      const own = messages.filter(({ invocationId }) => invocationId === due.invocationId);
      // Another one of the messages may be what the store refuses. It gets a turn of its own.
      if (own.length < messages.length) return this.#beginOnce(turn, session, own);
      // Otherwise it would be before all others forever.
      await env.sessions.appendEvents({ session, events: [withdrawEvent(due.invocationId)], turn });
      throw error;
    }
  }

  /** Rewinds what this message replaces. */
  async #rewound(session: Session, turn: HeldTurn): Promise<Session> {
    const { entry, key, config, rewindTo } = this.due;
    const toSeq = rewindTo === undefined ? await this.#replacedAfter(entry, session) : await this.#keptUpTo(rewindTo);
    if (toSeq === undefined || toSeq >= session.version) return session;
    const rewound = await this.env.sessions.rewindSession({ ...key, toSeq, turn });
    if (config === undefined) return rewound;
    // A rewind returns the whole view.
    const narrowed = await this.env.sessions.getSession({ ...key, config });
    if (!narrowed) throw new SessionNotFoundError(key.sessionId);
    return narrowed;
  }

  /** A message with `rollback` replaces the invocation that it interrupted, unless another one followed. */
  async #replacedAfter(entry: QueueEntry | undefined, session: Session): Promise<number | undefined> {
    if (entry?.policy !== 'rollback' || entry.target === undefined) return undefined;
    const events = await this.#newestEvents(session);
    const last = lastInvocation(events);
    const first = events.find((event) => messageOf(event) !== undefined && event.invocationId === entry.target);
    return last?.invocationId === entry.target && first ? first.seq - 1 : undefined;
  }

  /** Nothing is rewound for a message that was stored before. */
  async #keptUpTo(toSeq: number): Promise<number | undefined> {
    const { message } = await findMessage(this.env.sessions, this.due.key, this.due.invocationId);
    return message ? undefined : toSeq;
  }

  async #begin(turn: HeldTurn, session: Session, messages: readonly TakenMessage[]): Promise<RunResult> {
    const { agentName, invocationId, output, entry, key } = this.due;
    // Those before it may have used the budget up while it waited.
    if (entry) await this.env.sessions.checkBudget(key);
    const start = { invocationId, agentName, output, messages, isResumed: false, earlier: [], shown: [] };
    const opening = [
      ...(await this.#repairs(session, turn)),
      ...messages.map((taken) => messageEvent(taken, invocationId)),
    ];
    return this.#carryOut(turn, session, start, opening);
  }

  /** The events that close the last invocation, if its process died in it. */
  async #repairs(session: Session, turn: HeldTurn): Promise<EventInput[]> {
    const last = lastInvocation(await this.#newestEvents(session));
    if (!last) return [];
    const isClosed = this.#tailOf(last.events).isClosed;
    // After the final event of one agent, another one may have spoken when the process died.
    if (isClosed && !turn.takesOver) return [];
    const { invocationId, messageSeq } = last;
    const said = await this.#leftBehind(session, invocationId);
    if (isClosed && said.length === 0) return [];
    // The view may omit events of a long invocation.
    const { events, rewound } = await storedInvocation(this.env, this.due.key, messageSeq);
    const left = events.filter(({ seq }) => !isInRanges(seq, rewound));
    const idOf = new Map(said.map((event) => [nameOf(event), event.id]));
    const closing = this.#tailOf([...left, ...said]).closing(invocationId, 'died');
    const completing = closing.map((event) => {
      const id = event.interrupted ? idOf.get(nameOf(event)) : undefined;
      return id === undefined ? event : { ...event, id };
    });
    return withoutApprovals(completing, session, isAskedBy(invocationId));
  }

  /** The partial events of this invocation that a turn which died has left. The next commit removes all it has left. */
  async #leftBehind(session: Session, invocationId: string): Promise<StreamedEvent[]> {
    const incarnation = incarnationOf(session);
    if (!this.env.partials || incarnation === undefined) return [];
    const { key } = this.due;
    const found = await this.env.storage.partials.read({ key, incarnation, after: 0 });
    const said = streamedEvents([], found?.partials ?? [], { seq: session.version, partial: 0 });
    this.#leftovers = [...new Set(said.map(({ id }) => id))];
    return said.filter((event) => event.invocationId === invocationId);
  }

  /** A view that was narrowed for the handler may not show how the last invocation ended. */
  async #newestEvents(session: Session): Promise<readonly LoggedEvent[]> {
    if (this.due.config === undefined || session.version === 0) return session.events;
    if (this.#newest?.session === session) return this.#newest.events;
    const events = await readNewestUntil(this.env.sessions, this.due.key, (newest) =>
      showsLastInvocation(withoutRewound(newest)),
    );
    this.#newest = { session, events: withoutRewound(events) };
    return this.#newest.events;
  }

  #tailOf(events: readonly EventInput[]): InvocationTail {
    const tail = new InvocationTail(this.due.agentName);
    for (const event of events) tail.add(event);
    return tail;
  }

  /** Stores the answer, and goes on where the invocation asked. */
  async #answered(turn: HeldTurn, session: Session, { approvalId, content, schemas }: GivenAnswer): Promise<RunResult> {
    const marks = approvalMarksIn(session.id, session.metadata);
    const mark = marks.get(approvalId);
    if (mark) {
      const [[, answer] = []] = answersIn({ content });
      await checkedAnswer(answer, schemaOf(schemas, mark.tool));
      const event = answerEvent(approvalId, content, mark, marks.size === 1);
      const given = { approvalId, answer, event };
      return this.#goOn(turn, session, mark.messageSeq, { given, agentName: mark.agentName });
    }
    const stored = await findEventOf(this.env, this.due.key, this.due.invocationId, answerIdOf(approvalId));
    if (!stored) throw new ApprovalNotFoundError(approvalId);
    if (!isSameContent(stored, content)) throw new ApprovalAnsweredError(approvalId, stored.seq);
    return this.#goOn(turn, session, answeredMessageSeq(stored) ?? 0, { afterSeq: stored.seq });
  }

  /** The request is repeated, or an approval is answered: returns what was stored, or goes on where the process died. */
  async #goOn(
    turn: HeldTurn,
    session: Session,
    messageSeq: number,
    { afterSeq, given, agentName = this.due.agentName }: Continuation = {},
  ): Promise<RunResult> {
    const { env, due } = this;
    const { invocationId, message } = due;
    const output = due.output && { ...due.output, author: agentName };
    const found = await storedInvocation(env, due.key, messageSeq);
    const { message: stored, events: earlier } = found;
    if (given && due.answer) await this.#refuseIfRewound(turn, session, due.answer, found);
    if (stored && !due.answer && !isSameContent(stored, message)) throw new EventConflictError(stored.id, stored.seq);
    if (!due.answer && isInRanges(messageSeq, found.rewound)) {
      return { status: 'interrupted', invocationId: stored?.invocationId ?? invocationId, events: [], session };
    }
    // Of an answered approval, the caller gets what follows the answer.
    const shown = given ? [] : earlier.filter(({ seq, author }) => seq > (afterSeq ?? 0) && author !== 'user');
    for (const event of shown) this.tell(event);
    if (queuedIn(session).has(invocationId)) {
      await env.sessions.appendEvents({ session, events: [withdrawEvent(invocationId)], turn });
    }
    const tail = this.#tailOf(earlier);
    if (stored && stored.invocationId !== invocationId) {
      // Another invocation took the message, and its turn is over.
      const status = tail.isClosed ? statusOf(shown) : 'interrupted';
      return { status, invocationId: stored.invocationId, events: shown, session };
    }
    const mayHaveDied = !given && (turn.takesOver || !tail.isClosed);
    const said = mayHaveDied ? await this.#leftBehind(session, invocationId) : [];
    // After the final event of one agent, another one may have spoken when the process died.
    if (!given && tail.isClosed && said.length === 0) {
      return { status: statusOf(shown), invocationId, events: shown, session };
    }
    const messages = [{ invocationId, message: stored?.content ?? message, isQueued: false }];
    const start = { invocationId, agentName, output, messages, messageSeq, isResumed: true, earlier, shown, given };
    const opening = given ? [] : tail.responses(invocationId, 'The tool was interrupted.');
    return this.#carryOut(turn, session, start, opening);
  }

  /** A rewind takes back what was asked. */
  async #refuseIfRewound(
    turn: HeldTurn,
    session: Session,
    { approvalId }: GivenAnswer,
    { events, rewound }: StoredInvocation,
  ): Promise<void> {
    const asked = events.findLast((event) => approvalsAskedIn(event).includes(approvalId));
    if (!asked || !isInRanges(asked.seq, rewound)) return;
    const withdrawal = withoutApprovals([withdrawnApprovalsEvent()], session, (id) => id === approvalId);
    await this.env.sessions.appendEvents({ session, events: withdrawal, turn });
    throw new ApprovalNotFoundError(approvalId);
  }

  async #carryOut(
    turn: HeldTurn,
    session: Session,
    start: ConstructorParameters<typeof Invocation>[0],
    opening: readonly EventInput[],
  ): Promise<RunResult> {
    const log = new TurnLog(this.env, session, turn, (event) => invocation.notice(event));
    const invocation = new Invocation(start, log, this.tell, turn.signal);
    const stop = (): void => invocation.stop('stopped');
    log.removeWithNextCommit(this.#leftovers);
    try {
      const version = session.version;
      // Without a commit, nothing is removed yet.
      const stored = opening.length > 0 ? await log.append(opening) : [];
      if (stored.some(({ seq }) => seq <= version)) throw new RepeatedMessage(stored.at(-1)?.seq ?? 0);
      invocation.adopt(stored.filter((event) => event.invocationId === start.invocationId));
      log.follow();
      this.signal.addEventListener('abort', stop);
      if (this.signal.aborted) stop();
      const status = await invocation.run(this.handler);
      return { status, invocationId: start.invocationId, events: invocation.events, session };
    } finally {
      this.signal.removeEventListener('abort', stop);
      log.stop();
    }
  }
}

/** The message was stored by an earlier request, outside of the view. */
class RepeatedMessage extends Error {
  constructor(readonly seq: number) {
    super('The message was stored before');
  }
}

/** Whether a retry of the same write may succeed. */
function isPassing(error: unknown): boolean {
  return [StoreUnavailableError, TurnLostError, SessionNotFoundError].some((type) => error instanceof type);
}

function schemaOf(schemas: GivenAnswer['schemas'], tool = ''): StandardSchema | undefined {
  return schemas && Object.hasOwn(schemas, tool) ? schemas[tool] : undefined;
}

function repeatedAt(error: unknown, invocationId: string): number | undefined {
  if (error instanceof RepeatedMessage) return error.seq;
  return error instanceof EventConflictError && error.eventId === messageIdOf(invocationId) ? error.seq : undefined;
}
