import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import { type AiSdkMessage, aiSdkMessages } from './ai-sdk-messages.js';
import { type AnthropicMessage, anthropicMessages } from './anthropic-messages.js';
import type { ConversationEvent, ConversationMessage } from './conversation.js';
import { type GoogleContent, googleContents } from './google-messages.js';
import { type OpenAiMessage, openAiMessages } from './openai-messages.js';
import { type GivenMessage, type GivenMessagesOptions, givenMessages } from './given-messages.js';

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
export interface ToMessagesOptions<F extends MessageFormat = MessageFormat> extends GivenMessagesOptions {
  readonly format: F;
}

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
  const events = 'events' in conversation ? conversation.events : conversation;
  return messagesIn(options.format, givenMessages(events, options));
}

/** The messages in the form of a vendor. */
export function messagesIn<F extends MessageFormat>(
  format: F,
  given: readonly GivenMessage<ConversationEvent>[],
): MessagesOfFormat[F] {
  const convert = Object.hasOwn(CONVERT, format) ? CONVERT[format] : undefined;
  if (!convert) throw new InvalidInputError(`must be one of ${Object.keys(CONVERT).join(', ')}`, 'options.format');
  return convert(given.map(({ message }) => message));
}
