import type { FunctionCallInput, PartInput } from '../../sessions/domain/event/content.js';
import type { EventLike } from '../../sessions/domain/event/event.js';

/** One answer of a {@link ScriptedModel}: a text, tool calls, an error, or a function of what the model was given. */
export type ScriptedAnswer<Prompt = unknown> =
  | string
  | { readonly calls: readonly FunctionCallInput[] }
  | Error
  | ((prompt: Prompt) => string | { readonly calls: readonly FunctionCallInput[] });

/** How a model is asked. */
export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Replaces a language model in tests: it gives its answers one after the other, and keeps what it was asked.
 *
 * @example
 * const model = new ScriptedModel([{ calls: [{ name: 'weather', args: { city: 'Oslo' } }] }, 'It is sunny.']);
 * const agent = agentLoop({
 *   model: ({ history }) => model.ask(history),
 *   tools: { weather: async () => ({ sky: 'blue' }) },
 * });
 */
export class ScriptedModel<Prompt = unknown> {
  /** What the model was given, one entry for each question. */
  readonly prompts: Prompt[] = [];
  readonly #answers: ScriptedAnswer<Prompt>[];
  #calls = 0;

  constructor(answers: readonly ScriptedAnswer<Prompt>[]) {
    this.#answers = [...answers];
  }

  /** How many answers are left. A test that ends with some has not done what it planned. */
  get left(): number {
    return this.#answers.length;
  }

  /** The next answer, as an event. Throws if there is none, or if it is an error. */
  ask(prompt: Prompt, { signal }: AskOptions = {}): EventLike {
    signal?.throwIfAborted();
    this.prompts.push(prompt);
    const next = this.#answers.shift();
    if (next === undefined) {
      throw new Error(`The scripted model has no answer to question ${this.prompts.length}. Add one to its script.`);
    }
    const answer = typeof next === 'function' ? next(prompt) : next;
    if (answer instanceof Error) throw answer;
    return modelEvent(typeof answer === 'string' ? [{ text: answer }] : answer.calls.map((call) => this.#partOf(call)));
  }

  /** The same in pieces: a partial event for each word, then the whole text. */
  async *stream(prompt: Prompt, options?: AskOptions): AsyncGenerator<EventLike, void> {
    const whole = this.ask(prompt, options);
    const text = whole.content?.parts?.[0]?.text ?? '';
    for (const word of text.split(/(?<= )/).filter((each) => each !== '')) {
      options?.signal?.throwIfAborted();
      yield { ...modelEvent([{ text: word }]), partial: true };
    }
    yield whole;
  }

  #partOf(call: FunctionCallInput): PartInput {
    this.#calls += 1;
    return { functionCall: { id: `call-${this.#calls}`, ...call } };
  }
}

function modelEvent(parts: PartInput[]): EventLike {
  return { content: { role: 'model', parts } };
}
