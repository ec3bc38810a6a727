import { HumanMessage } from '@langchain/core/messages';
import { RedisChatMessageHistory } from '@langchain/redis';
import { createClient } from 'redis';

/** LangChain's chat history in Redis: messages without state. @implements {import('../rows.mjs').Adapter} */
export class LangChainRedis {
  static async open({ url, name }) {
    const client = createClient({ url });
    await client.connect();
    return new LangChainRedis(client, name);
  }

  constructor(client, name) {
    this.client = client;
    this.name = name;
  }

  async create(sessionId) {
    return new RedisChatMessageHistory({ sessionId: `${this.name}:${sessionId}`, client: this.client });
  }

  find(sessionId) {
    return this.create(sessionId);
  }

  append(history, { id, content }) {
    return history.addMessage(new HumanMessage({ id, content: content.parts[0].text }));
  }

  readAll(history) {
    return history.getMessages();
  }

  async readNewest(history, count) {
    return (await history.getMessages()).slice(-count);
  }

  async close() {
    await this.client.quit();
  }
}
