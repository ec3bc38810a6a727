import type { Event, State } from 'nestjs-agent-sessions';

/** The reader's client of a language model. */
export declare class ChatModel {
  complete(events: readonly Event[], state: State): Promise<{ text: string; orderId?: string }>;
}
