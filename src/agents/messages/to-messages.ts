import { InvalidInputError } from '../../sessions/domain/errors.js';
import { type AiSdkMessage, aiSdkMessages } from './ai-sdk-messages.js';
import { type AnthropicMessage, anthropicMessages } from './anthropic-messages.js';
import type { ConversationEvent, ConversationMessage } from './conversation.js';
import { type GoogleContent, googleContents } from './google-messages.js';
import { type OpenAiMessage, openAiMessages } from './openai-messages.js';
import { pairMessages } from './paired-calls.js';
import { isCut, messageOf, noteMessage, ownCallIds } from './said-parts.js';
import { type TokenEstimate, estimatedTokens, withinBudget } from './token-budget.js';
import { type BranchOptions, visibleEvents } from './visible-events.js';

/** The messages of each format. */
export interface MessagesOfFormat {
  /** `messages` of `chat/completions` */
  openai: OpenAiMessage[];
  /** `messages` of the Messages API */
  anthropic: AnthropicMessage[];
  /** `contents` of `generateContent` */
  google: GoogleContent[];
  /** `messages` of `generateText` and `streamText`: `ModelMessage[]` */
  'ai-sdk': AiSdkMessage[];
}

/** A format of {@link toMessages}. */
export type MessageFormat = keyof MessagesOfFormat;

/** What {@link toMessages} converts to, and what it leaves out. */
export interface ToMessagesOptions<F extends MessageFormat = MessageFormat> extends BranchOptions {
  readonly format: F;
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

const CUT_NOTE = '[The answer above was cut off.]';

type Convert<F extends MessageFormat> = (messages: readonly ConversationMessage[]) => MessagesOfFormat[F];

const CONVERT: { readonly [F in MessageFormat]: Convert<F> } = {
  openai: openAiMessages,
  anthropic: anthropicMessages,
  google: googleContents,
  'ai-sdk': aiSdkMessages,
};

/**
 * The conversation of a session as messages for a model. Each tool call is followed by its result, a summary stands in
 * place of what it covers, and roles alternate where the vendor demands it.
 *
 * @example
 * const session = await sessions.getSession({ appName: 'shop', userId: 'ann', sessionId });
 * await openai.chat.completions.create({ model, messages: toMessages(session, { format: 'openai', tokenBudget: 50_000 }) });
 */
export function toMessages<F extends MessageFormat>(
  conversation: { readonly events: readonly ConversationEvent[] } | readonly ConversationEvent[],
  options: ToMessagesOptions<F>,
): MessagesOfFormat[F] {
  const convert = Object.hasOwn(CONVERT, options.format) ? CONVERT[options.format] : undefined;
  if (!convert) throw new InvalidInputError(`must be one of ${Object.keys(CONVERT).join(', ')}`, 'options.format');
  const { agent, thoughts = true, cutNote = CUT_NOTE, tokenBudget, estimateTokens = estimatedTokens } = options;
  const events = visibleEvents('events' in conversation ? conversation.events : conversation, options);
  const ownCalls = ownCallIds(events, agent);
  const said = events.flatMap((event) => {
    const message = messageOf(event, agent, ownCalls);
    return cutNote !== false && isCut(event, message) ? [message, noteMessage(cutNote)] : [message];
  });
  const paired = pairMessages(said).map(({ message }) => message);
  const messages = thoughts ? paired : paired.map(withoutThoughts).filter(({ parts }) => parts.length > 0);
  if (tokenBudget === undefined) return convert(messages);
  if (!(tokenBudget >= 0)) throw new InvalidInputError('must be a number of tokens', 'options.tokenBudget');
  return convert(withinBudget(messages, tokenBudget, estimateTokens));
}

function withoutThoughts({ parts, ...message }: ConversationMessage): ConversationMessage {
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
