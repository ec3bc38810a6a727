import { Injectable } from '@nestjs/common';
import { type SessionKey, SessionService } from 'nestjs-agent-sessions';
import { ChatModel, type ChatMessage } from './chat-model.js';

@Injectable()
export class SupportAgent {
  constructor(
    private readonly sessions: SessionService,
    private readonly model: ChatModel,
  ) {}

  /** One turn: store the question, ask the model with the recent conversation, store the answer with its state. */
  async answer(key: SessionKey, question: string): Promise<string> {
    const session = await this.sessions.getOrCreateSession(key);
    await this.sessions.appendEvent({
      session,
      event: { author: 'user', content: { role: 'user', parts: [{ text: question }] } },
    });

    const messages = session.events.map(({ author, content }): ChatMessage => ({
      role: author === 'user' ? 'user' : 'assistant',
      text: content?.parts?.[0]?.text ?? '',
    }));
    const { text, orderId } = await this.model.complete(messages);

    await this.sessions.appendEvent({
      session,
      event: {
        author: 'support-agent',
        content: { role: 'model', parts: [{ text }] },
        actions: { stateDelta: orderId ? { 'user:lastOrder': orderId } : {} },
      },
    });
    return text;
  }
}
