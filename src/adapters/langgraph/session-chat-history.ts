import { randomUUID } from 'node:crypto';
import { BaseListChatMessageHistory } from '@langchain/core/chat_history';
import type { BaseMessage } from '@langchain/core/messages';
import { JsonPlusSerializer } from '@langchain/langgraph-checkpoint';
import { checkedSessionKey, checkOptions, retryUnknown } from '../../adapter.js';
import type { SessionKey, SessionService } from '../../index.js';
import { historyMessages } from './history-messages.js';
import { historyEvents } from './message-events.js';
import { serializedValue } from './serialized-value.js';

/** What a {@link SessionChatHistory} needs. */
export interface SessionChatHistoryOptions extends SessionKey {
  readonly sessions: SessionService;
}

/**
 * The conversation of a session, as messages of LangChain that models take: its view, with summaries and without what was rewound.
 * Each call has its result; one that nobody answered has a result that says so.
 *
 * @example
 * const history = new SessionChatHistory({ sessions, appName: 'shop', userId: 'ann', sessionId: 'chat-1' });
 * await history.addUserMessage('Hello');
 */
export class SessionChatHistory extends BaseListChatMessageHistory {
  override lc_namespace = ['nestjs-agent-sessions', 'langgraph'];
  readonly #sessions: SessionService;
  readonly #key: SessionKey;
  /** Whether the session was there: then it is not created again. */
  #wasThere = false;
  readonly #serde = new JsonPlusSerializer();

  constructor(options: SessionChatHistoryOptions) {
    super();
    checkOptions('SessionChatHistory', options, {
      sessions: 'object',
      appName: 'anything',
      userId: 'anything',
      sessionId: 'anything',
    });
    this.#sessions = options.sessions;
    this.#key = checkedSessionKey(options);
  }

  override async getMessages(): Promise<BaseMessage[]> {
    const session = await this.#sessions.getSession(this.#key);
    this.#wasThere = session !== undefined;
    return historyMessages(session?.events ?? [], this.#key.sessionId, this.#serde);
  }

  override async addMessage(message: BaseMessage): Promise<void> {
    await this.addMessages([message]);
  }

  /** All of them or none, at most 99. Refused if the session was deleted since this object read or wrote it. */
  override async addMessages(messages: BaseMessage[]): Promise<void> {
    const serialized = await Promise.all(
      messages.map(async (message) => [message, await serializedValue(this.#serde, message)] as const),
    );
    // With ids, so that what is sent again is stored once.
    const events = historyEvents(serialized).map((event) => ({ id: randomUUID(), ...event }));
    if (!this.#wasThere) await this.#sessions.getOrCreateSession(this.#key);
    this.#wasThere = true;
    const { sessionId: id, ...user } = this.#key;
    await retryUnknown(async () => this.#sessions.appendEvents({ session: { ...user, id }, events }));
  }

  /** Rewinds the session to its beginning. The log keeps the messages. */
  override async clear(): Promise<void> {
    const session = await this.#sessions.getSession({ ...this.#key, config: { numRecentEvents: 0 } });
    if (session) await this.#sessions.rewindSession({ ...this.#key, toSeq: 0 });
  }
}
