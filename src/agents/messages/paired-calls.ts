import type { FunctionResponse } from '../../sessions/domain/event.js';
import type { ConversationCall, ConversationMessage, ConversationPart, ConversationResult } from './conversation.js';
import type { UnpairedMessage, UnpairedPart } from './said-parts.js';

/** What a model reads as the result of a call that nobody answered. All vendors refuse a call without a result. */
export const NO_RESULT = { error: 'No result: the call was not answered.' };

/**
 * Puts the results of calls right after the message with the calls, in their order, as all vendors demand. Of several
 * responses to a call the last counts: those before it report the progress of a long-running tool. A call without response
 * gets {@link NO_RESULT}, and a response without call is left out.
 */
export function pairedMessages(messages: readonly UnpairedMessage[]): ConversationMessage[] {
  const pieces = messages.flatMap(piecesOf);
  const calls = new Calls();
  const paired = pieces.map((piece, place) => ({
    ...piece,
    parts: piece.parts.flatMap((part) => calls.paired(part, place)),
  }));
  return paired.flatMap(({ parts, ...message }) => (parts.length > 0 ? withResults({ ...message, parts }, calls) : []));
}

/** Splits a message that answers and goes on: what it says after an answer belongs after the result. */
function piecesOf(message: UnpairedMessage): UnpairedMessage[] {
  const starts = message.parts.flatMap(({ type }, index) => {
    const isAfterAnswer = index > 0 && message.parts[index - 1]?.type === 'answered';
    return index === 0 || (isAfterAnswer && type !== 'answered') ? [index] : [];
  });
  return starts.map((start, index) => ({ ...message, parts: message.parts.slice(start, starts[index + 1]) }));
}

function withResults(message: ConversationMessage, calls: Calls): ConversationMessage[] {
  const results = message.parts.flatMap((part) => (part.type === 'call' ? [calls.resultOf(part)] : []));
  return results.length > 0 ? [message, { role: 'tool', parts: results }] : [message];
}

interface CallState {
  readonly id: string;
  /** The message that made the call. */
  readonly madeIn: number;
  response?: FunctionResponse;
}

/** The calls of a conversation, from its first message to its last. */
class Calls {
  readonly #byId = new Map<string, CallState>();
  /** The last call with this id in the log. */
  readonly #byGivenId = new Map<string, CallState>();
  readonly #byName = new Map<string, { readonly open: CallState[]; last: CallState }>();

  /** Calls get an id that no other call has; responses are kept with their call. */
  paired(part: UnpairedPart, message: number): ConversationPart[] {
    switch (part.type) {
      case 'called':
        return [this.#added(part, message)];
      case 'answered':
        this.#answer(part.response);
        return [];
      default:
        return [part];
    }
  }

  resultOf({ id, name, isIdGiven }: ConversationCall): ConversationResult {
    const response = this.#byId.get(id)?.response;
    const value = response ? (response.response ?? {}) : NO_RESULT;
    return { type: 'result', id, name, response: value, isError: isError(value), isIdGiven };
  }

  #added({ call, signature }: UnpairedPart & { type: 'called' }, madeIn: number): ConversationCall {
    const { id: given, name = UNNAMED, args } = call;
    const state: CallState = { id: this.#freeId(given), madeIn };
    this.#byId.set(state.id, state);
    if (given) this.#byGivenId.set(given, state);
    const sharing = this.#byName.get(name);
    if (sharing) sharing.last = state;
    else this.#byName.set(name, { open: [], last: state });
    this.#byName.get(name)?.open.push(state);
    const signed = signature !== undefined && { signature };
    return { type: 'call', id: state.id, name, args: args ?? {}, isIdGiven: state.id === given, ...signed };
  }

  /** Some models count calls again in each turn, so ids repeat. */
  #freeId(given: string | undefined): string {
    if (given && !this.#byId.has(given)) return given;
    for (let number = this.#byId.size + 1; ; number++) {
      const id = `${given || 'call'}-${number}`;
      if (!this.#byId.has(id)) return id;
    }
  }

  #answer(response: FunctionResponse): void {
    const call = response.id ? this.#byGivenId.get(response.id) : this.#nextByName(response.name ?? UNNAMED);
    if (call) call.response = response;
  }

  /** Responses without id answer the calls of one message in their order, those of the last message first. */
  #nextByName(name: string): CallState | undefined {
    const calls = this.#byName.get(name);
    if (!calls) return undefined;
    while (calls.open.at(-1)?.response) calls.open.pop();
    const madeIn = calls.open.at(-1)?.madeIn;
    const first = calls.open.findLastIndex((call) => call.madeIn !== madeIn) + 1;
    return calls.open.slice(first).find((call) => !call.response) ?? calls.last;
  }
}

const UNNAMED = 'unknown';

function isError(response: unknown): boolean {
  return typeof response === 'object' && response !== null && Object.hasOwn(response, 'error');
}
