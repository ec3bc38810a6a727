import { isByUser, textsOf } from '../sessions/domain/event-inspection.js';
import type { LoggedEvent } from '../sessions/domain/event.js';
import { answeredCalls, callsIn, longRunningCallsIn } from '../sessions/domain/tool-pairs.js';
import type { Note } from './findings.js';

interface Call {
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
  readonly #calls = new Map<string, Call>();
  readonly #open = new Set<Call>();
  readonly #notes: Note[] = [];

  /** @param isWhole whether the log begins with its first event */
  constructor(private isWhole: boolean) {}

  add(event: LoggedEvent): void {
    const lasting = new Set(longRunningCallsIn(event));
    for (const key of callsIn(event)) this.#addCall(key, event.seq, lasting.has(key));
    const answered = answeredCalls(event);
    for (const key of answered) this.#addResponse(key, event.seq);
    if (answered.length === 0 && isByUser(event) && textsOf(event).length > 0) {
      for (const call of this.#open) call.leftAt ??= event.seq;
    }
  }

  /** @param isRunning whether somebody is at work in the session, so that responses may still come */
  notes(isRunning = false): Note[] {
    const left = isRunning ? [] : [...this.#open].filter(({ leftAt }) => leftAt !== undefined);
    return [
      ...this.#notes,
      ...left.map(({ seq, leftAt }) => ({
        code: 'TOOL_CALL_WITHOUT_RESPONSE' as const,
        detail: `event ${seq} calls a tool, and event ${leftAt} follows without a response`,
      })),
    ];
  }

  #addCall(key: string, seq: number, isLasting: boolean): void {
    const call: Call = { seq };
    this.#calls.delete(key);
    this.#calls.set(key, call);
    if (!isLasting) this.#open.add(call);
    if (this.#calls.size <= MOST_CALLS) return;
    const [oldest] = this.#calls;
    if (oldest) {
      this.#calls.delete(oldest[0]);
      this.#open.delete(oldest[1]);
    }
    this.isWhole = false;
  }

  #addResponse(key: string, seq: number): void {
    const call = this.#calls.get(key);
    if (call) this.#open.delete(call);
    else if (this.isWhole) {
      this.#notes.push({ code: 'TOOL_RESPONSE_WITHOUT_CALL', detail: `event ${seq} responds to no earlier call` });
    }
  }
}
