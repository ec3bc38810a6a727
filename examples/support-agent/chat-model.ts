import { Injectable } from '@nestjs/common';

export interface ChatMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

/** Replaces a language model, so that the example needs no key. It finds order numbers and counts messages. */
@Injectable()
export class ChatModel {
  async complete(messages: readonly ChatMessage[]): Promise<{ text: string; orderId?: string }> {
    const orders = messages.flatMap(({ role, text }) => (role === 'user' ? (text.match(/\b\d{4}\b/g) ?? []) : []));
    const orderId = orders.at(-1);
    if (!orderId) return { text: 'Which order is it?' };
    return { text: `I am looking at order ${orderId}, after ${messages.length} message(s).`, orderId };
  }
}
