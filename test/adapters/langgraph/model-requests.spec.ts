import { HumanMessage, SystemMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { CONFIG, KEY, human, openSaver } from './support/threads.js';

/** What a node tells its model, beside the messages of the thread. */
const PROMPT = 'Answer as a pirate.';

describe('SessionSaver', () => {
  /** The reason why docs/explain.md says that it writes no facts. */
  it('is given nothing of what a node asks its model, so that it can write no fact', async () => {
    const { sessions, saver } = openSaver();
    const model = new FakeListChatModel({ responses: ['Arr.'] });
    const asked: string[] = [];
    const given: unknown[] = [];
    for (const name of ['put', 'putWrites'] as const) {
      const write = saver[name].bind(saver) as (...args: unknown[]) => Promise<never>;
      jest.spyOn(saver, name).mockImplementation(async (...args: unknown[]) => {
        given.push(args);
        return write(...args);
      });
    }
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', async ({ messages }) => {
        const prompt = [new SystemMessage(PROMPT), ...messages.slice(-1)];
        asked.push(...prompt.map(({ text }) => text));
        return { messages: [await model.invoke(prompt)] };
      })
      .addEdge(START, 'model')
      .compile({ checkpointer: saver });
    await graph.invoke(human('Hello'), CONFIG);
    await graph.invoke({ messages: [new HumanMessage('And now?')] }, CONFIG);

    expect(asked).toEqual([PROMPT, 'Hello', PROMPT, 'And now?']);
    expect(given.length).toBeGreaterThan(4);
    expect(JSON.stringify(given)).toContain('Arr.');
    expect(JSON.stringify(given)).not.toContain(PROMPT);
    const { events } = await sessions.listEvents({ ...KEY, limit: 1_000 });
    expect(events.filter(({ modelRequest }) => modelRequest)).toEqual([]);
    await sessions.close();
  });
});
