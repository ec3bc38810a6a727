import { BaseListChatMessageHistory } from '@langchain/core/chat_history';
import type { BaseMessage } from '@langchain/core/messages';
import { JsonPlusSerializer } from '@langchain/langgraph-checkpoint';
import { type SessionKey, checkedSessionKey } from '../../sessions/domain/ids.js';
import type { SessionService } from '../../sessions/session.service.js';
import { messagesOf } from './event-messages.js';
import { messageEvent } from './message-events.js';
import { serializedValue } from './serialized-value.js';

/** What a {@link SessionChatHistory} needs. */
export interface SessionChatHistoryOptions extends SessionKey {
  readonly sessions: SessionService;
}

/**
 * The conversation of a session, as messages of LangChain: its view, with summaries and without what was rewound.
 *
 * @example
 * const history = new SessionChatHistory({ sessions, appName: 'shop', userId: 'ann', sessionId: 'chat-1' });
 * await history.addUserMessage('Hello');
 */
export class SessionChatHistory extends BaseListChatMessageHistory {
  override lc_namespace = ['nestjs-agent-sessions', 'langgraph'];
  readonly #sessions: SessionService;
  readonly #key: SessionKey;
  readonly #serde = new JsonPlusSerializer();

  constructor({ sessions, ...key }: SessionChatHistoryOptions) {
    super();
    this.#sessions = sessions;
    this.#key = checkedSessionKey(key);
  }

  override async getMessages(): Promise<BaseMessage[]> {
    const session = await this.#sessions.getSession(this.#key);
    const messages = await Promise.all((session?.events ?? []).map((event) => messagesOf(event, this.#serde)));
    return messages.flat();
  }

  override async addMessage(message: BaseMessage): Promise<void> {
    await this.addMessages([message]);
  }

  /** All of them or none. */
  override async addMessages(messages: BaseMessage[]): Promise<void> {
    const events = await Promise.all(
      messages.map(async (message) => messageEvent(message, await serializedValue(this.#serde, message))),
    );
    const session = await this.#sessions.getOrCreateSession(this.#key);
    await this.#sessions.appendEvents({ session, events });
  }

  /** Rewinds the session to its beginning. The log keeps the messages. */
  override async clear(): Promise<void> {
    const session = await this.#sessions.getSession({ ...this.#key, config: { numRecentEvents: 0 } });
    if (session) await this.#sessions.rewindSession({ ...this.#key, toSeq: 0 });
  }
}
