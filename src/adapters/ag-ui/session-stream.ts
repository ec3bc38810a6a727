import { setTimeout as delay } from 'node:timers/promises';
import { type Event, EventType } from '@ag-ui/core';
import { invocationOfMessage, isDiscard, runningInvocation } from '../../agents/index.js';
import { isByUser, isRewind } from '../../adapter.js';
import {
  type EventInput,
  isFinalResponse,
  type LoggedEvent,
  type Session,
  type SessionKey,
  SessionNotFoundError,
  type SessionService,
  type WatchSessionRequest,
} from '../../index.js';
import { messageIdsOf, toAgUiMessages } from './event-messages.js';
import { EventTranslator } from './event-translator.js';
import { type LiveEvent, InterruptibleWatch, TICK } from './interruptible-watch.js';
import { finished, outcomeInLog, started, waitingOutcome } from './run-outcome.js';
import { type StreamState, formatStreamToken } from './stream-token.js';

/** An event of AG-UI and, if a reader can continue after it, its id in the stream. */
export interface SentEvent {
  readonly event: Event;
  readonly id?: string;
}

/** Where a stream reads. */
export interface StreamSource {
  readonly sessions: SessionService;
  readonly key: SessionKey;
  readonly signal: AbortSignal;
  readonly gate?: WatchSessionRequest['gate'];
  /** The most that a view has, for the gate. */
  readonly viewBytes?: number | undefined;
}

/** How often a reader looks whether a run that it watches is over, besides events. */
const POLL_MS = 250;

/** A run that somebody watches. */
interface Frame {
  /** As the reader knows it. */
  readonly runId: string;
  readonly events: LoggedEvent[];
}

/** What happens in a session, from a moment on, in the events of AG-UI. Belongs to one reader. */
export class SessionStream {
  readonly #translator: EventTranslator;
  readonly #live: InterruptibleWatch;
  #position: string;
  #seq: number;
  #frame: Frame | undefined;
  /** The event up to which the reader has got all messages. */
  #messagesUpTo = 0;
  #ownIds: ReadonlySet<string> = new Set();

  constructor(
    private readonly source: StreamSource,
    { position, run, open }: StreamState,
  ) {
    const { sessions, key, signal, gate } = source;
    this.#translator = new EventTranslator(open);
    this.#position = position;
    this.#seq = Number.parseInt(position, 10);
    if (run !== undefined) this.#frame = newFrame(run);
    const start = { afterSeq: this.#seq, afterPosition: position };
    this.#live = new InterruptibleWatch(
      sessions.watch({ ...key, ...start, partials: true, stateDeltas: true, signal, ...(gate && { gate }) }),
    );
  }

  /** The conversation and the state, as a run of their own, and what the reader has to know of a run that goes on. */
  *snapshot(session: Session, runId: string, running: string | undefined): Generator<SentEvent> {
    const { sessionId: threadId } = this.source.key;
    yield { event: started(threadId, runId) };
    yield { event: { type: EventType.STATE_SNAPSHOT, snapshot: readVisibleState(session) } };
    yield { event: messagesSnapshot(session) };
    const outcome =
      running === undefined ? waitingOutcome(this.source.sessions, session) : ({ type: 'success' } as const);
    yield this.#marked(finished(threadId, runId, outcome));
    if (running === undefined) return;
    this.#frame = newFrame(running);
    for (const event of session.events) if (event.invocationId === running) this.#note(event);
    yield this.#marked(started(threadId, running));
  }

  /** The runs that others begin, and all that happens between them. Ends with the signal. */
  async *follow({ untilIdle = false } = {}): AsyncGenerator<SentEvent> {
    let mayBeOver = true;
    for (;;) {
      if (mayBeOver && this.#frame && (await this.#isOver())) yield* this.#finish();
      if (untilIdle && !this.#frame && !(await this.#running())) return;
      const event = await this.#live.next(this.#frame ? delay(POLL_MS) : undefined);
      if (event === undefined) return;
      if (event !== TICK) yield* this.#take(event);
      mayBeOver = event === TICK || (!isByUser(event) && isFinalResponse(event));
    }
  }

  /** What happens until the run that the reader began is over. @param ids of the messages that it sent */
  async *until(over: Promise<unknown>, runId: string, ids: readonly string[]): AsyncGenerator<SentEvent> {
    this.#ownIds = new Set(ids);
    this.#frame = newFrame(runId);
    let last: number | undefined;
    for (;;) {
      if (last !== undefined && this.#seq >= last) return;
      const event = await this.#live.next(last === undefined ? over : undefined);
      if (event === undefined) return;
      if (event === TICK) last = await this.#lastSeq();
      else yield* this.#said(event);
    }
  }

  /** The end of the run of `until`. */
  async *end(event: (session: Session) => Event): AsyncGenerator<SentEvent> {
    yield* this.#ended();
    yield* this.#ofView((session) => {
      this.#frame = undefined;
      return this.#marked(event(session));
    });
  }

  async close(): Promise<void> {
    await this.#live.close();
  }

  /** An event, with a run around it. */
  async *#take(event: LiveEvent): AsyncGenerator<SentEvent> {
    const { sessionId: threadId } = this.source.key;
    const invocation =
      event.partial === true || invocationOfMessage(event) !== undefined ? event.invocationId : undefined;
    if (this.#frame && invocation !== undefined && invocation !== this.#frame.runId) yield* this.#finish();
    const isBetweenRuns = !this.#frame && invocation === undefined;
    const sent = [];
    for await (const each of this.#said(event)) sent.push(each);
    if (!this.#frame && sent.length > 0) {
      this.#frame = newFrame(invocation ?? event.id);
      yield { event: started(threadId, this.#frame.runId) };
    }
    this.#note(event);
    yield* sent.map(({ event: said }, index) => (index < sent.length - 1 ? { event: said } : this.#marked(said)));
    if (isBetweenRuns && this.#frame) yield* this.#finish();
  }

  async *#said(event: LiveEvent): AsyncGenerator<SentEvent> {
    if (event.partial !== true) this.#seq = event.seq;
    this.#position = event.position ?? String(event.seq);
    const isKnown = event.partial !== true && event.seq <= this.#messagesUpTo;
    const hasSent = isKnown || messageIdsOf(event).some((id) => this.#ownIds.has(id));
    const events = isKnown ? stateOnly(this.#translator, event) : this.#translator.eventsOf(event, hasSent);
    yield* events.map((said, index) => (index < events.length - 1 ? { event: said } : this.#marked(said)));
    if (isRewind(event)) yield* this.#messages();
    if (isDiscard(event)) yield* this.#takenBack(this.#translator.discard(event.id));
  }

  /** Whether the run is over, and its reader has got all of it. */
  async #isOver(): Promise<boolean> {
    if ((await this.#running()) === this.#frame?.runId) return false;
    return this.#seq >= (await this.#lastSeq());
  }

  async *#finish(): AsyncGenerator<SentEvent> {
    const { sessionId: threadId } = this.source.key;
    const frame = this.#frame;
    if (!frame) return;
    yield* this.#ended();
    yield* this.#ofView((session) => {
      const outcome = outcomeInLog(frame.events, this.source.sessions, session);
      this.#frame = undefined;
      return this.#marked(outcome === 'failed' ? failedEvent(frame) : finished(threadId, frame.runId, outcome));
    });
  }

  /** What was said and is not in the log is taken back. */
  async *#ended(): AsyncGenerator<SentEvent> {
    yield* this.#takenBack(this.#translator.endAll());
  }

  /** @param ends of messages that are not in the log */
  async *#takenBack(ends: readonly Event[]): AsyncGenerator<SentEvent> {
    if (ends.length === 0) return;
    yield* ends.map((event) => ({ event }));
    yield* this.#messages();
  }

  async *#messages(): AsyncGenerator<SentEvent> {
    yield* this.#ofView((session) => {
      this.#messagesUpTo = session.version;
      return { event: messagesSnapshot(session) };
    });
  }

  #note(event: LoggedEvent): void {
    if (event.partial !== true) this.#frame?.events.push(event);
  }

  #marked(event: Event): SentEvent {
    return {
      event,
      id: formatStreamToken({ position: this.#position, run: this.#frame?.runId, open: this.#translator.open }),
    };
  }

  async #running(): Promise<string | undefined> {
    return runningInvocation(await this.source.sessions.getTurn(this.source.key));
  }

  async #lastSeq(): Promise<number> {
    // Without events.
    return (await this.source.sessions.listEvents({ ...this.source.key, beforeSeq: 1 })).lastSeq;
  }

  /** An event that is made of the view, which takes memory of all answers until the event is sent. */
  async *#ofView(eventOf: (session: Session) => SentEvent): AsyncGenerator<SentEvent> {
    const { sessions, key, signal, gate, viewBytes = 0 } = this.source;
    const share = await gate?.enter(viewBytes, signal);
    if (signal.aborted) return share?.release();
    try {
      const session = await sessions.getSession(key);
      if (!session) throw new SessionNotFoundError(key.sessionId);
      share?.resize(viewBytes);
      yield eventOf(session);
    } finally {
      share?.release();
    }
  }
}

/** What a reader sees of a thread that does not exist yet. */
export async function* emptySnapshot(threadId: string, runId: string): AsyncGenerator<SentEvent> {
  yield { event: started(threadId, runId) };
  yield { event: { type: EventType.STATE_SNAPSHOT, snapshot: {} } };
  yield { event: { type: EventType.MESSAGES_SNAPSHOT, messages: [] } };
  yield { event: finished(threadId, runId, { type: 'success' }) };
}

/** The state that readers see. */
export function readVisibleState(session: Session): Record<string, unknown> {
  return session.state.toRecord();
}

/** The conversation that readers see. */
export function messagesSnapshot(session: Session): Event {
  return { type: EventType.MESSAGES_SNAPSHOT, messages: session.events.flatMap(toAgUiMessages) };
}

function newFrame(runId: string): Frame {
  return { runId, events: [] };
}

function stateOnly(translator: EventTranslator, event: LiveEvent): Event[] {
  return translator.eventsOf({ ...event, content: null }, true);
}

function failedEvent({ events }: Frame): Event {
  const last: EventInput = events.at(-1) ?? {};
  const { errorMessage = 'The run failed.', errorCode } = last;
  // Who began the run gets the code of the error.
  const code = last.interrupted === true && errorCode === 'FAILED' ? 'AGENT_FAILED' : errorCode;
  return { type: EventType.RUN_ERROR, message: errorMessage, ...(code && { code }) };
}
