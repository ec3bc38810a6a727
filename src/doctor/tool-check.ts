import { getFunctionCalls, isByUser, listEventTexts } from '../sessions/domain/event/event-inspection.js';
import type { FunctionCall } from '../sessions/domain/event/content.js';
import type { LoggedEvent } from '../sessions/domain/event/event.js';
import type { OpenCall } from '../sessions/domain/event/open-calls.js';
import { answeredCalls, callKey, longRunningCallsIn } from '../sessions/domain/view/tool-pairs.js';
import type { Note } from './findings.js';

/** A call without response, of which the user did not wait for one. */
export interface LeftCall extends OpenCall {
  readonly invocationId: string | undefined;
}

interface Call extends LeftCall {
  readonly seq: number;
  /** The first message of the user after the call, while it had no response. */
  leftAt?: number | undefined;
}

/** So many calls are remembered. Responses to older ones are not judged. */
const MOST_CALLS = 10_000;

/**
 * Whether tool calls and responses of a log belong together. Add its events in order, without rewound ones.
 *
 * @example
 * const tools = new ToolCheck(true);
 * for (const event of events) tools.add(event);
 * tools.notes();
 */
export class ToolCheck {
  /** The open calls by key. A key stays when its calls are answered. */
  readonly #calls = new Map<string, Call[]>();
  readonly #open = new Set<Call>();
  readonly #notes: Note[] = [];

  /** @param isWhole whether the log begins with its first event */
  constructor(private isWhole: boolean) {}

  add(event: LoggedEvent): void {
    const lasting = new Set(longRunningCallsIn(event));
    const made = new Set<string>();
    for (const call of getFunctionCalls(event)) {
      const key = callKey(call);
      this.#addCall(call, event, lasting.has(key), made.has(key));
      made.add(key);
    }
    const answered = answeredCalls(event);
    for (const key of answered) this.#addResponse(key, event.seq);
    if (answered.length === 0 && isByUser(event) && listEventTexts(event).length > 0) {
      for (const call of this.#open) call.leftAt ??= event.seq;
    }
  }

  /** The calls that were left without response. */
  get left(): readonly LeftCall[] {
    return this.#left();
  }

  /** @param isRunning whether somebody is at work in the session, so that responses may still come */
  notes(isRunning = false): Note[] {
    const left = isRunning ? [] : this.#left();
    return [
      ...this.#notes,
      ...left.map(({ seq, leftAt }) => ({
        code: 'TOOL_CALL_WITHOUT_RESPONSE' as const,
        detail: `event ${seq} calls a tool, and event ${leftAt} follows without a response`,
      })),
    ];
  }

  #left(): Call[] {
    return [...this.#open].filter(({ leftAt }) => leftAt !== undefined);
  }

  /** @param isBeside whether the event has made such a call before */
  #addCall(
    call: FunctionCall,
    { seq, author, branch, invocationId }: LoggedEvent,
    isLasting: boolean,
    isBeside: boolean,
  ): void {
    const key = callKey(call);
    const before = this.#calls.get(key) ?? [];
    // A call with an id replaces one of an earlier event with the same id.
    const isReplacing = call.id !== undefined && call.id !== '' && !isBeside;
    const calls = isReplacing ? [] : before;
    if (isReplacing) for (const replaced of before) this.#open.delete(replaced);
    this.#calls.delete(key);
    this.#calls.set(key, calls);
    if (!isLasting) {
      const open: Call = { seq, call, author: author ?? 'agent', branch, invocationId };
      calls.push(open);
      this.#open.add(open);
    }
    if (this.#calls.size <= MOST_CALLS) return;
    const [oldest] = this.#calls;
    if (oldest) {
      this.#calls.delete(oldest[0]);
      for (const forgotten of oldest[1]) this.#open.delete(forgotten);
    }
    this.isWhole = false;
  }

  /** Several calls may have the same name and no id: each response answers one. */
  #addResponse(key: string, seq: number): void {
    const calls = this.#calls.get(key);
    const [answered] = calls?.splice(0, 1) ?? [];
    if (answered) this.#open.delete(answered);
    if (!calls && this.isWhole) {
      this.#notes.push({ code: 'TOOL_RESPONSE_WITHOUT_CALL', detail: `event ${seq} responds to no earlier call` });
    }
  }
}
