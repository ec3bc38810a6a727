import { MemorySession } from '@openai/agents';

/** OpenAI's Agents SDK: it keeps messages, no state, and has no store of its own besides memory. @implements {import('../rows.mjs').Adapter} */
export class OpenaiAgents {
  static async open() {
    return new OpenaiAgents();
  }

  async create(sessionId) {
    return new MemorySession({ sessionId });
  }

  append(session, { id, author, content }) {
    const [{ text }] = content.parts;
    const isUser = author === 'user';
    const item = isUser
      ? { id, type: 'message', role: 'user', content: text }
      : { id, type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] };
    return session.addItems([item]);
  }

  readAll(session) {
    return session.getItems();
  }

  readNewest(session, count) {
    return session.getItems(count);
  }

  async close() {}
}
