import type { FunctionResponse } from '../../sessions/domain/event/content.js';
import type { ConversationCall, ConversationMessage, ConversationPart, ConversationResult } from './conversation.js';
import { type UnpairedMessage, type UnpairedPart, partsOfResponse } from './said-parts.js';
import { toolError } from './tool-response-error.js';

/** What a model reads as the result of a call that nobody answered. All vendors refuse a call without a result. */
const NO_RESULT = { error: 'No result: the call was not answered.' };

/** A message with paired calls, and what it was made of. */
export interface PairedMessage<Said extends UnpairedMessage> {
  readonly message: ConversationMessage;
  /** Of the message with the results: what made the calls. */
  readonly of: Said;
  /** Of the message with the results: what answered the calls. */
  readonly answeredBy: readonly Said[];
}

/**
 * Puts the results of calls right after the message with the calls, in their order, as all vendors demand. Of several
 * responses to a call the last counts: those before it report the progress of a long-running tool. A call without response
 * gets an error as result, and a response without call is left out.
 *
 * @example const messages = pairMessages(session.events.map((event) => readMessage(event)));
 */
export function pairMessages<Said extends UnpairedMessage>(messages: readonly Said[]): PairedMessage<Said>[] {
  const pieces = messages.flatMap((of) => splitAfterAnswers(of).map((parts) => ({ of, parts })));
  const calls = new Calls<Said>();
  const paired = pieces.map(({ of, parts }, place) => ({
    of,
    message: {
      role: of.role,
      parts: parts.flatMap((part) => calls.paired(part, place, of)),
      ...(of.begins && { begins: of.begins }),
    },
  }));
  return paired.flatMap(({ message, of }) => {
    if (message.parts.length === 0) return [];
    const results = createResultMessage(message, calls);
    return [{ message, of, answeredBy: [] }, ...(results ? [{ ...results, of }] : [])];
  });
}

/** Splits a message that answers and goes on: what it says after an answer belongs after the result. */
function splitAfterAnswers({ parts }: UnpairedMessage): (readonly UnpairedPart[])[] {
  const starts = parts.flatMap(({ type }, index) => {
    const isAfterAnswer = index > 0 && parts[index - 1]?.type === 'answered';
    return index === 0 || (isAfterAnswer && type !== 'answered') ? [index] : [];
  });
  return starts.map((start, index) => parts.slice(start, starts[index + 1]));
}

function createResultMessage<Said extends UnpairedMessage>(
  { parts }: ConversationMessage,
  calls: Calls<Said>,
): Pick<PairedMessage<Said>, 'message' | 'answeredBy'> | undefined {
  const made = parts.filter((part) => part.type === 'call');
  if (made.length === 0) return undefined;
  const answeredBy = made.flatMap(({ id }) => calls.answerTo(id)?.by ?? []);
  return { message: { role: 'tool', parts: made.map((call) => calls.resultOf(call)) }, answeredBy };
}

interface CallState<Said> {
  readonly id: string;
  /** The message that made the call. */
  readonly madeIn: number;
  answer?: { readonly response: FunctionResponse; readonly by: Said };
}

/** The calls of a conversation, from its first message to its last. */
class Calls<Said> {
  readonly #byId = new Map<string, CallState<Said>>();
  /** The calls with this id in the last message that has some. */
  readonly #byGivenId = new Map<string, readonly CallState<Said>[]>();
  readonly #byName = new Map<string, { readonly open: CallState<Said>[]; last: CallState<Said> }>();

  /** Calls get an id that no other call has; responses are kept with their call. */
  paired(part: UnpairedPart, message: number, of: Said): ConversationPart[] {
    switch (part.type) {
      case 'called':
        return [this.#added(part, message)];
      case 'answered':
        this.#answer(part.response, of);
        return [];
      default:
        return [part];
    }
  }

  answerTo(id: string): CallState<Said>['answer'] {
    return this.#byId.get(id)?.answer;
  }

  resultOf({ id, name, isIdGiven }: ConversationCall): ConversationResult {
    const response = this.answerTo(id)?.response;
    const value = response ? (response.response ?? {}) : NO_RESULT;
    const parts = response ? partsOfResponse(response) : [];
    const isError = toolError(value) !== undefined;
    return { type: 'result', id, name, response: value, ...(parts.length > 0 && { parts }), isError, isIdGiven };
  }

  #added({ call, signature }: UnpairedPart & { type: 'called' }, madeIn: number): ConversationCall {
    const { id: given, name = UNNAMED, args } = call;
    const state: CallState<Said> = { id: this.#freeId(given), madeIn };
    this.#byId.set(state.id, state);
    if (given) {
      const before = this.#byGivenId.get(given) ?? [];
      this.#byGivenId.set(given, [...before.filter((each) => each.madeIn === madeIn), state]);
    }
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

  #answer(response: FunctionResponse, by: Said): void {
    const call = response.id ? this.#nextById(response.id) : this.#nextByName(response.name ?? UNNAMED);
    if (call) call.answer = { response, by };
  }

  /** Calls of one message with the same id are answered in their order. Further responses replace the last one. */
  #nextById(id: string): CallState<Said> | undefined {
    const calls = this.#byGivenId.get(id);
    return calls?.find((call) => !call.answer) ?? calls?.at(-1);
  }

  /** Responses without id answer the calls of one message in their order, those of the last message first. */
  #nextByName(name: string): CallState<Said> | undefined {
    const calls = this.#byName.get(name);
    if (!calls) return undefined;
    while (calls.open.at(-1)?.answer) calls.open.pop();
    const madeIn = calls.open.at(-1)?.madeIn;
    const first = calls.open.findLastIndex((call) => call.madeIn !== madeIn) + 1;
    return calls.open.slice(first).find((call) => !call.answer) ?? calls.last;
  }
}

const UNNAMED = 'unknown';
