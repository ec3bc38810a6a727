import type { Clock } from '../../sessions/domain/process/clock.js';
import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import { type EventInput, type LoggedEvent, keepFilledInTimestamp } from '../../sessions/domain/event/event.js';
import { isBranchSummary } from '../../sessions/domain/event/event-inspection.js';
import { type ModelRequest, givenRanges } from '../../sessions/domain/event/model-request.js';
import { eventsGiven, givenMessages } from '../messages/given-messages.js';
import {
  type MessageFormat,
  type MessagesOfFormat,
  type ToMessagesOptions,
  messagesIn,
} from '../messages/to-messages.js';

/** What a model is given beside the conversation, and the format of its messages. */
export interface AgentRequestOptions<F extends MessageFormat = MessageFormat>
  extends Omit<ToMessagesOptions<F>, 'format'>, Pick<ModelRequest, 'instructions' | 'tools'> {
  /** See `toMessages`, which has the other options, too. Without it there are no `messages`, and the model is given the `events`. */
  readonly format?: F | undefined;
}

/**
 * A question to a model: what it is given, and the answer that says so.
 *
 * @example
 * const request = context.request({ instructions, tools, format: 'openai', tokenBudget: 50_000 });
 * const text = await ask({ system: instructions, messages: request.messages, tools, signal: context.signal });
 * yield request.answered({ content: { role: 'model', parts: [{ text }] } });
 */
export class AgentRequest<F extends MessageFormat = MessageFormat> {
  /** The events that the model is given. With a format: those of which its messages say something. */
  readonly events: readonly LoggedEvent[];
  readonly #messages: MessagesOfFormat[F] | undefined;
  readonly #given: Pick<ModelRequest, 'given' | 'isExact'>;
  readonly #startedAt: number;

  /** @param clock by which it is measured how long the model takes */
  constructor(
    history: readonly LoggedEvent[],
    private readonly options: AgentRequestOptions<F>,
    private readonly clock: Clock,
  ) {
    const { format, tokenBudget: _budget, ...how } = options;
    const isCut = format !== undefined && options.tokenBudget !== undefined;
    const messages = format === undefined ? undefined : givenMessages(history, options);
    this.events = messages
      ? eventsGiven(history, messages, options)
      : history.filter((event) => !isBranchSummary(event));
    // What was dropped leaves no trace, such as another id of a call, so that the events alone make the same messages again.
    const made = isCut ? givenMessages(this.events, how) : messages;
    this.#messages = made && format && messagesIn(format, made);
    this.#given = givenRanges(this.events);
    this.#startedAt = clock.now();
  }

  /** The events in the format of the request, as `toMessages` gives them. */
  get messages(): MessagesOfFormat[F] {
    if (this.#messages) return this.#messages;
    throw new InvalidInputError('is missing: say in which format the messages are to be', 'options.format');
  }

  /**
   * The answer, with what the model was given, and how long it took since the request was made. Of several events, such as partial ones
   * and the whole, it is the whole one; partial events stay as they are.
   *
   * @example for await (const event of model.stream(request.messages)) yield request.answered(event);
   */
  answered(event: EventInput): EventInput {
    if (event.partial === true) return event;
    const { instructions, tools } = this.options;
    const answer: EventInput = {
      ...event,
      modelRequest: {
        ...this.#given,
        ...(instructions !== undefined && { instructions }),
        ...(tools !== undefined && { tools }),
        durationMs: Math.max(0, this.clock.now() - this.#startedAt),
      },
    };
    keepFilledInTimestamp(event, answer);
    return answer;
  }
}
