import { type BranchOptions, branchView } from '../../sessions/domain/view/branch-view.js';
import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import type { ConversationEvent, ConversationMessage } from './conversation.js';
import { pairMessages } from './paired-calls.js';
import { type UnpairedMessage, isCut, toUnpairedMessage, noteMessage, ownCallIds } from './said-parts.js';
import { type TokenEstimate, estimatedTokens, withinBudget } from './token-budget.js';
import { visibleEvents } from './visible-events.js';

/** What a conversation becomes for an agent, before it takes the form of a vendor. */
export interface GivenMessagesOptions extends BranchOptions {
  /**
   * The agent that the messages are for. What other agents said reaches it as messages of the user: `[writer] said: …`.
   * Without it, all agents are one.
   */
  readonly agent?: string | undefined;
  /** `false` leaves thoughts and their signatures out: of another vendor's model they are refused. Default: `true`. */
  readonly thoughts?: boolean | undefined;
  /**
   * What follows an answer that was stopped, interrupted, or cut by a failure, in a message of the user: so the model knows that it is
   * no whole one. `false` for nothing. Default: `[The answer above was cut off.]`.
   */
  readonly cutNote?: string | false | undefined;
  /** The most tokens that the messages may have. The oldest are dropped, at the boundaries of turns. */
  readonly tokenBudget?: number | undefined;
  /** Counts the tokens of a message. Default: one for each four characters, 1,000 for a file. */
  readonly estimateTokens?: TokenEstimate | undefined;
}

/** A message, and the events of which it says something. */
export interface GivenMessage<Given extends ConversationEvent> {
  readonly message: ConversationMessage;
  readonly events: readonly Given[];
}

interface Said<Given> extends UnpairedMessage {
  readonly event: Given;
}

const CUT_NOTE = '[The answer above was cut off.]';

/** The messages that a model is given of a conversation, each with the events that it is made of. */
export function givenMessages<Given extends ConversationEvent>(
  events: readonly Given[],
  options: GivenMessagesOptions,
): readonly GivenMessage<Given>[] {
  const { agent, thoughts = true, cutNote = CUT_NOTE, tokenBudget, estimateTokens = estimatedTokens } = options;
  const visible = visibleEvents(events, options);
  const ownCalls = ownCallIds(
    visible.map(({ seen }) => seen),
    agent,
  );
  const said = visible.flatMap(({ event, seen }): Said<Given>[] => {
    const message = toUnpairedMessage(seen, agent, ownCalls);
    const isNoted = cutNote !== false && isCut(seen, message);
    return [{ ...message, event }, ...(isNoted ? [{ ...noteMessage(cutNote), event }] : [])];
  });
  const paired = pairMessages(said).map(({ message, of, answeredBy }) => ({
    message,
    events: [of, ...answeredBy].map(({ event }) => event),
  }));
  const given = thoughts ? paired : withoutThoughts(paired);
  if (tokenBudget === undefined) return given;
  if (!(tokenBudget >= 0)) throw new InvalidInputError('must be a number of tokens', 'options.tokenBudget');
  const messages = given.map(({ message }) => message);
  const fitting = new Set(withinBudget(messages, tokenBudget, estimateTokens));
  return given.filter(({ message }) => fitting.has(message));
}

/** The events of which these messages say something, in the order in which readers of the branch get them. */
export function eventsGiven<Given extends ConversationEvent>(
  events: readonly Given[],
  messages: readonly GivenMessage<Given>[],
  branch: BranchOptions,
): Given[] {
  const given = new Set(messages.flatMap((each) => each.events));
  return branchView(events, branch).filter((event) => given.has(event));
}

function withoutThoughts<Given extends ConversationEvent>(
  given: readonly GivenMessage<Given>[],
): GivenMessage<Given>[] {
  const all = given.map(({ message, events }) => ({ message: withoutThoughtsOf(message), events }));
  return all.filter(({ message }) => message.parts.length > 0);
}

function withoutThoughtsOf({ parts, ...message }: ConversationMessage): ConversationMessage {
  const kept = parts.filter(({ type }) => type !== 'thought');
  return {
    ...message,
    parts: kept.map((part) => {
      if (part.type !== 'text' && part.type !== 'call') return part;
      const { signature: _signature, ...unsigned } = part;
      return unsigned;
    }),
  };
}
