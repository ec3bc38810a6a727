import { HumanMessage } from '@langchain/core/messages';
import { MemorySaver, emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';

/**
 * LangGraph's checkpoints, as a graph with a channel of messages writes them: it loads the thread and puts the whole next
 * checkpoint. @implements {import('../rows.mjs').Adapter}
 */
export class LangGraph {
  static async open({ store, url }) {
    if (store === 'memory') return new LangGraph(new MemorySaver());
    const saver = PostgresSaver.fromConnString(url);
    // Two writers may create the tables at once.
    await saver.setup().catch(() => saver.setup());
    return new LangGraph(saver);
  }

  constructor(saver) {
    this.saver = saver;
  }

  async create(sessionId) {
    return { configurable: { thread_id: sessionId, checkpoint_ns: '' } };
  }

  find(sessionId) {
    return this.create(sessionId);
  }

  async append(config, event) {
    const tuple = await this.saver.getTuple(config);
    const last = tuple?.checkpoint ?? emptyCheckpoint();
    const version = Number(last.channel_versions.messages ?? 0) + 1;
    const message = new HumanMessage({ id: event.id, content: event.content.parts[0].text });
    const checkpoint = {
      ...last,
      id: uuid6(version),
      ts: new Date().toISOString(),
      channel_values: { messages: [...(last.channel_values.messages ?? []), message] },
      channel_versions: { messages: version },
    };
    const metadata = { source: 'loop', step: version, parents: {} };
    await this.saver.put(tuple?.config ?? config, checkpoint, metadata, { messages: version });
  }

  async readAll(config) {
    return (await this.saver.getTuple(config))?.checkpoint.channel_values.messages ?? [];
  }

  async readNewest(config, count) {
    return (await this.readAll(config)).slice(-count);
  }

  async close() {
    await this.saver.end?.();
  }
}
