import { isDeepStrictEqual } from 'node:util';
import { getFunctionCalls, isByUser, isFinalResponse } from '../../sessions/domain/event/event-inspection.js';
import type { FunctionCall } from '../../sessions/domain/event/content.js';
import type { EventInput, LoggedEvent } from '../../sessions/domain/event/event.js';
import {
  DIED,
  type NumberedCall,
  type Speaker,
  eventBy,
  namedCall,
  problemResponses,
} from '../../sessions/domain/event/open-calls.js';
import type { Session } from '../../sessions/domain/session/session.js';
import { plainCopyOf } from '../../sessions/domain/values/plain-copy.js';
import { answeredCalls, callKey, longRunningCallsIn } from '../../sessions/domain/view/tool-pairs.js';
import { FAILURE_MESSAGES } from '../errors/agent-failed-error.js';
import { approvalMarksIn, awaitsApproval, questionsIn } from './approval-requests.js';
import { isControlEvent } from '../turn/control-events.js';
import { type Failure, failedBy } from '../errors/failure-reason.js';
import { UnfinishedAnswers } from './unfinished-answers.js';
import { isIdFor } from './unique-call-ids.js';

/** Why an invocation ended before it was done. */
export type Interruption = 'stopped' | 'interrupted' | 'failed' | 'died';

const MESSAGES: Readonly<Record<Interruption, string>> = {
  stopped: 'The answer was stopped.',
  interrupted: 'The answer was interrupted by a new message.',
  failed: FAILURE_MESSAGES.FAULT,
  died: DIED,
};

/** What the end of an invocation holds; the first that the rules for events allow. */
export const KEPT_AT_THE_END = [true, false].flatMap((withDone) => [
  { withDone, withState: true, withText: true },
  { withDone, withState: false, withText: true },
  { withDone, withState: true, withText: false },
  { withDone, withState: false, withText: false },
]);

/**
 * What an invocation leaves behind if it ends here: calls without response, and text that only partial events held. Add
 * its events in order.
 *
 * @example
 * const end = new InvocationEnd('support', events);
 * if (!end.isClosed) events.push(...end.closing('inv-1', 'died'));
 */
export class InvocationEnd {
  readonly #open = new Map<string, readonly NumberedCall[]>();
  #unfinished = new UnfinishedAnswers();
  #calls = 0;
  /** How often each id was used. */
  readonly #made = new Map<string, number>();
  #isClosed = false;
  #isWaiting = false;
  #last: Speaker;

  /** @param agent who speaks if nobody has spoken yet */
  constructor(agent: string, events: Iterable<EventInput> = []) {
    this.#last = { author: agent };
    for (const event of events) this.add(event);
  }

  /** The same, for events that are not stored yet. */
  copy(): InvocationEnd {
    const copy = new InvocationEnd(this.#last.author);
    for (const [key, calls] of this.#open) copy.#open.set(key, calls);
    copy.#unfinished = this.#unfinished.copy();
    copy.#calls = this.#calls;
    for (const [id, times] of this.#made) copy.#made.set(id, times);
    copy.#isClosed = this.#isClosed;
    copy.#isWaiting = this.#isWaiting;
    copy.#last = this.#last;
    return copy;
  }

  /** The whole event, with the tokens that only partial events before it had. */
  withUsage(event: EventInput): EventInput {
    return isByUser(event) ? event : this.#unfinished.withUsage(event, this.#speakerOf(event));
  }

  add(event: EventInput): void {
    if (isControlEvent(event)) return;
    const speaker = this.#speakerOf(event);
    if (event.partial === true) {
      this.#unfinished.add(event, speaker);
      this.#last = speaker;
      return;
    }
    const isOfUser = isByUser(event);
    this.#isClosed = !isOfUser && isFinalResponse(event);
    this.#isWaiting = awaitsApproval(event);
    // Users neither call tools nor respond for them, whatever their messages hold.
    if (isOfUser) return;
    this.#addCalls(event, speaker);
    this.#unfinished.complete(event, speaker);
    this.#last = speaker;
  }

  /** The handler is called again: what ended the invocation before does not end it now. */
  reopen(): void {
    this.#isClosed = false;
  }

  /** Whether the last event is a final response, or asks for approvals. */
  get isClosed(): boolean {
    return this.#isWaiting || (this.#isClosed && this.#open.size === 0);
  }

  /** Whether the last event says that the invocation waits for approvals. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** The calls without response, except those of long-running tools. */
  get openCalls(): readonly NumberedCall[] {
    return [...this.#open.values()].flat();
  }

  /** The call that is meant: an open one, or one that is the same. Of calls that are not open, the last one with the id. */
  find(call: FunctionCall): NumberedCall | undefined {
    const same = this.openCalls.filter(({ call: open }) => isSame(open, call));
    const found = same.find((each) => each.call === call) ?? same[0];
    if (found || !call.id) return found;
    return { ...this.#last, call: namedCall(call), number: 0, nth: this.#made.get(call.id) ?? 1, isRedacted: false };
  }

  /** Responses for the calls that have none. */
  responses(invocationId: string, problem: string): EventInput[] {
    return problemResponses(this.openCalls, invocationId, problem);
  }

  /** What only partial events said, in an event for each speaker. */
  said(invocationId: string): EventInput[] {
    return this.#unfinished.events(invocationId);
  }

  /** The events that leave a clean log: responses for open calls, and the partial text in an event that says why it ended. */
  closing(
    invocationId: string,
    why: Interruption,
    { withText = true, failure }: { readonly withText?: boolean; readonly failure?: Failure | undefined } = {},
  ): EventInput[] {
    const problem = failure ? FAILURE_MESSAGES[failure.reason] : MESSAGES[why];
    const said = this.#unfinished.events(invocationId, { withText });
    const ends = said.length > 0 ? said : [eventBy(this.#last, invocationId)];
    const end = { interrupted: true, turnComplete: true, errorCode: why.toUpperCase(), errorMessage: problem };
    return [
      ...this.responses(invocationId, problem),
      ...ends.map((event) => ({ ...event, ...end, ...(failure && failedBy(failure)) })),
    ];
  }

  #speakerOf({ author = this.#last.author, branch }: EventInput): Speaker {
    return { author, branch };
  }

  /** Calls without id are answered in their order, by the name of the tool. */
  #addCalls(event: EventInput, speaker: Speaker): void {
    const lasting = new Set(longRunningCallsIn(event));
    for (const call of getFunctionCalls(event)) {
      const number = ++this.#calls;
      const nth = call.id ? (this.#made.get(call.id) ?? 0) + 1 : 1;
      if (call.id) this.#made.set(call.id, nth);
      const key = callKey(call);
      const before = call.id ? [] : (this.#open.get(key) ?? []);
      const named = namedCall(call);
      const isRedacted = event.redaction !== undefined && Object.keys(named.args).length === 0;
      if (!lasting.has(key))
        this.#open.set(key, [...before, { call: plainCopyOf(named), number, nth, isRedacted, ...speaker }]);
    }
    for (const key of answeredCalls(event)) {
      const left = this.#open.get(key)?.slice(1) ?? [];
      if (left.length > 0) this.#open.set(key, left);
      else this.#open.delete(key);
    }
  }
}

/**
 * Whether an invocation has these events to its end: its agent has answered all calls and given a final response, or waits for approvals.
 *
 * @example if (!hasEnded(events)) resume(invocationId);
 */
export function hasEnded(events: Iterable<EventInput>): boolean {
  return new InvocationEnd('', events).isClosed;
}

/** A handler may name a call as the model made it. */
function isSame(open: FunctionCall, { id, name, args }: FunctionCall): boolean {
  return isIdFor(open.id, id) && open.name === (name ?? '') && isDeepStrictEqual(open.args ?? {}, args ?? {});
}

/**
 * Responses to the open calls of an invocation whose tools may have begun: nobody may call them again. If it waits, each tool is
 * done, or has not passed what it asks. If a process has left it in the middle, that is known only of calls that still ask.
 *
 * @param end what the events leave behind
 */
export function interruptedResponses(
  invocationId: string,
  events: readonly LoggedEvent[],
  end: Pick<InvocationEnd, 'isWaiting' | 'openCalls'>,
  session: Pick<Session, 'id' | 'metadata'>,
): EventInput[] {
  if (end.isWaiting) return [];
  const marks = approvalMarksIn(session.id, session.metadata);
  const asking = new Set<string | undefined>();
  for (const event of events.filter((each) => !isByUser(each))) {
    // A later call may have the same id.
    for (const { id } of getFunctionCalls(event)) asking.delete(id);
    for (const [approvalId, { call }] of questionsIn(event)) if (call && marks.has(approvalId)) asking.add(call.id);
  }
  const interrupted = end.openCalls.filter(({ call: { id } }) => id === undefined || !asking.has(id));
  return problemResponses(interrupted, invocationId, 'The tool was interrupted.');
}
