import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { type BaseCheckpointSaver, type Checkpoint, emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { InMemorySessionStorage, SessionService } from '../../../../src/index.js';
import { SessionSaver, type SessionSaverOptions } from '../../../../src/adapters/langgraph/index.js';
import type { SessionStorage } from '../../../../src/storage.js';

export const USER = { appName: 'shop', userId: 'ann' };
export const KEY = { ...USER, sessionId: 'chat-1' };
export const CONFIG = { configurable: { thread_id: 'chat-1' } };

/** A saver and its service, over a store in memory unless another one is given. */
export function openSaver(
  options: Partial<SessionSaverOptions> = {},
  storage: SessionStorage = new InMemorySessionStorage(),
) {
  const sessions = new SessionService({ storage });
  return { sessions, storage, saver: new SessionSaver({ sessions, ...USER, ...options }) };
}

/** A graph whose model says how many messages it saw. `before` runs inside the model. */
export function echoGraph(checkpointer: BaseCheckpointSaver, before: (said: string) => unknown = () => undefined) {
  return new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => {
      await before(messages.at(-1)?.text ?? '');
      return { messages: [new AIMessage(`answer ${messages.length}`)] };
    })
    .addEdge(START, 'model')
    .compile({ checkpointer });
}

export function human(text: string): { messages: HumanMessage[] } {
  return { messages: [new HumanMessage(text)] };
}

/** Reads the thread, and writes its next checkpoint with one more message, as a run does. */
export async function putMessage(saver: BaseCheckpointSaver, text: string, config: object = CONFIG): Promise<void> {
  const tuple = await saver.getTuple(config);
  const last = tuple?.checkpoint ?? emptyCheckpoint();
  const messages = [
    ...((last.channel_values.messages ?? []) as unknown[]),
    new HumanMessage({ id: text, content: text }),
  ];
  const version = saver.getNextVersion(last.channel_versions.messages as number | undefined);
  const checkpoint: Checkpoint = {
    ...last,
    id: uuid6(messages.length),
    channel_values: { messages },
    channel_versions: { messages: version },
  };
  const metadata = { source: 'loop' as const, step: messages.length, parents: {} };
  await saver.put(tuple?.config ?? config, checkpoint, metadata, { messages: version });
}

export async function messagesIn(saver: BaseCheckpointSaver, config: object = CONFIG): Promise<string[]> {
  const { channel_values: values } = (await saver.get(config)) ?? emptyCheckpoint();
  return ((values.messages ?? []) as { readonly text: string }[]).map(({ text }) => text);
}
