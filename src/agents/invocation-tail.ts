import { isDeepStrictEqual } from 'node:util';
import { getFunctionCalls, isByUser, isFinalResponse } from '../sessions/domain/event-inspection.js';
import type { EventInput, FunctionCall, LoggedEvent } from '../sessions/domain/event.js';
import { DIED, type OpenCall, type Speaker, eventBy, nameOf, problemResponses } from '../sessions/domain/open-calls.js';
import { answeredCalls, callKey, longRunningCallsIn } from '../sessions/domain/tool-pairs.js';
import { awaitsApproval } from './approvals.js';
import { isControlEvent, messageOf } from './control-events.js';

/** Why an invocation ended before it was done. */
export type Interruption = 'stopped' | 'interrupted' | 'failed' | 'died';

const MESSAGES: Readonly<Record<Interruption, string>> = {
  stopped: 'The answer was stopped.',
  interrupted: 'The answer was interrupted by a new message.',
  failed: 'The agent failed.',
  died: DIED,
};

interface NumberedCall extends OpenCall {
  /** Its place among the calls of the invocation. */
  readonly number: number;
}

interface PartialText extends Speaker {
  readonly texts: string[];
}

/**
 * What an invocation leaves behind if it ends here: calls without response, and text that only partial events held. Add
 * its events in order.
 *
 * @example
 * const tail = new InvocationTail('support');
 * for (const event of events) tail.add(event);
 * if (!tail.isClosed) events.push(...tail.closing('inv-1', 'died'));
 */
export class InvocationTail {
  readonly #open = new Map<string, readonly NumberedCall[]>();
  readonly #partial = new Map<string, PartialText>();
  #calls = 0;
  #isClosed = false;
  #isWaiting = false;
  #last: Speaker;

  /** @param agent who speaks if nobody has spoken yet */
  constructor(agent: string) {
    this.#last = { author: agent };
  }

  /** The same, for events that are not stored yet. */
  copy(): InvocationTail {
    const copy = new InvocationTail(this.#last.author);
    for (const [key, calls] of this.#open) copy.#open.set(key, calls);
    for (const [name, partial] of this.#partial) copy.#partial.set(name, { ...partial, texts: [...partial.texts] });
    copy.#calls = this.#calls;
    copy.#isClosed = this.#isClosed;
    copy.#isWaiting = this.#isWaiting;
    copy.#last = this.#last;
    return copy;
  }

  add(event: EventInput): void {
    if (isControlEvent(event)) return;
    const speaker = { author: event.author ?? this.#last.author, branch: event.branch };
    if (event.partial === true) {
      this.#addPartial(event, speaker);
      return;
    }
    const isOfUser = isByUser(event);
    this.#isClosed = !isOfUser && isFinalResponse(event);
    this.#isWaiting = awaitsApproval(event);
    // Users neither call tools nor respond for them, whatever their messages hold.
    if (isOfUser) return;
    this.#addCalls(event, speaker);
    this.#partial.delete(nameOf(speaker));
    this.#last = speaker;
  }

  /** Whether the last event is a final response, or asks for approvals. */
  get isClosed(): boolean {
    return this.#isWaiting || (this.#isClosed && this.#open.size === 0);
  }

  /** The calls without response, except those of long-running tools. */
  get openCalls(): readonly FunctionCall[] {
    return [...this.#open.values()].flat().map(({ call }) => call);
  }

  /** The place of an open call, or of one that is the same, among all calls of the invocation. */
  numberOf(call: FunctionCall): number | undefined {
    const open = [...this.#open.values()].flat();
    const isSame = ({ name, args }: FunctionCall): boolean =>
      name === call.name && isDeepStrictEqual(args ?? {}, call.args ?? {});
    return (open.find((each) => each.call === call) ?? open.find((each) => isSame(each.call)))?.number;
  }

  /** Responses for the calls that have none. */
  responses(invocationId: string, problem: string): EventInput[] {
    return problemResponses([...this.#open.values()].flat(), invocationId, problem);
  }

  /** The events that leave a clean log: responses for open calls, and the partial text in an event that says why it ended. */
  closing(invocationId: string, why: Interruption, { withText = true } = {}): EventInput[] {
    const problem = MESSAGES[why];
    const texts = [...this.#partial.values()].filter((partial) => withText && partial.texts.length > 0);
    const ends = texts.length > 0 ? texts : [{ ...this.#last, texts: [] }];
    return [
      ...this.responses(invocationId, problem),
      ...ends.map(({ texts: said, ...speaker }) => ({
        ...eventBy(speaker, invocationId),
        // It may end within a character.
        ...(said.length > 0 && { content: { role: 'model', parts: [{ text: said.join('').toWellFormed() }] } }),
        interrupted: true,
        turnComplete: true,
        errorCode: why.toUpperCase(),
        errorMessage: problem,
      })),
    ];
  }

  /** Calls without id are answered in their order, by the name of the tool. */
  #addCalls(event: EventInput, speaker: Speaker): void {
    const lasting = new Set(longRunningCallsIn(event));
    for (const call of getFunctionCalls(event)) {
      const number = ++this.#calls;
      const key = callKey(call);
      const before = call.id ? [] : (this.#open.get(key) ?? []);
      if (!lasting.has(key)) this.#open.set(key, [...before, { call, number, ...speaker }]);
    }
    for (const key of answeredCalls(event)) {
      const left = this.#open.get(key)?.slice(1) ?? [];
      if (left.length > 0) this.#open.set(key, left);
      else this.#open.delete(key);
    }
  }

  #addPartial({ content }: EventInput, speaker: Speaker): void {
    const said = (content?.parts ?? []).flatMap(({ text, thought }) =>
      typeof text === 'string' && thought !== true ? [text] : [],
    );
    const name = nameOf(speaker);
    const partial = this.#partial.get(name) ?? { ...speaker, texts: [] };
    partial.texts.push(...said);
    this.#partial.set(name, partial);
    this.#last = speaker;
  }
}

/** An invocation among other events. */
interface FoundInvocation {
  readonly invocationId: string;
  /** Its first message. */
  readonly messageSeq: number;
  readonly events: readonly LoggedEvent[];
}

/** The last invocation in a view, if its message came through `AgentSessions`. */
export function lastInvocation(events: readonly LoggedEvent[]): FoundInvocation | undefined {
  const invocationId = lastSaid(events)?.invocationId;
  if (!invocationId) return undefined;
  const own = events.filter((event) => event.invocationId === invocationId);
  const message = own.find((event) => messageOf(event) !== undefined);
  return message && { invocationId, messageSeq: message.seq, events: own };
}

/** Whether events before these cannot change what {@link lastInvocation} finds. */
export function showsLastInvocation(events: readonly LoggedEvent[]): boolean {
  const last = lastSaid(events);
  return last !== undefined && (!last.invocationId || lastInvocation(events) !== undefined);
}

function lastSaid(events: readonly LoggedEvent[]): LoggedEvent | undefined {
  return events.findLast((event) => !isControlEvent(event) && event.author !== 'system');
}
