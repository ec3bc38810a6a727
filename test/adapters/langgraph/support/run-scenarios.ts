import { AIMessage, HumanMessage, RemoveMessage } from '@langchain/core/messages';
import {
  Command,
  DeltaChannel,
  END,
  MessagesAnnotation,
  Annotation,
  START,
  Send,
  StateGraph,
  entrypoint,
  getPreviousState,
  task,
} from '@langchain/langgraph';
import { signal } from './gate.js';
import { State, says } from './graph-state.js';
import type { Scenario } from './scenarios.js';

/** Runs without questions: turns, failures, tasks that are sent, jumps. */
export const runScenarios: readonly Scenario[] = [
  {
    title: 'three turns of two steps',
    build: (checkpointer, effect) =>
      new StateGraph(State)
        .addNode('think', ({ log }) => ({ log: [`think ${log.length} ${effect('think')}`], last: 'thought' }))
        .addNode('answer', ({ log }) => ({ log: [`answer ${log.length} ${effect('answer')}`] }))
        .addEdge(START, 'think')
        .addEdge('think', 'answer')
        .compile({ checkpointer }),
    async play(run) {
      for (const text of ['one', 'two', 'three']) await run.invoke(says(text));
      await run.history();
    },
  },
  {
    title: 'a conversation whose messages change and vanish',
    build: (checkpointer, effect) =>
      new StateGraph(MessagesAnnotation)
        .addNode('model', ({ messages }) => {
          const answer = new AIMessage({ id: `a${messages.length}`, content: `answer ${effect('model')}` });
          const gone = messages.length > 4 ? [new RemoveMessage({ id: messages[0]?.id ?? '' })] : [];
          return { messages: [answer, ...gone] };
        })
        .addEdge(START, 'model')
        .compile({ checkpointer }),
    async play(run) {
      for (const id of ['m1', 'm2', 'm3', 'm1b'])
        await run.invoke({ messages: [new HumanMessage({ id, content: id })] });
      await run.invoke({ messages: [new HumanMessage({ id: 'm3', content: 'changed' })] });
      await run.history();
    },
  },
  {
    title: 'a node that fails beside one that is done, and again when it is tried again',
    build(checkpointer, effect) {
      const [isDone, finish] = signal();
      return new StateGraph(State)
        .addNode('charge', () => {
          effect('charge');
          finish();
          return says('charged');
        })
        .addNode('ship', async () => {
          const times = effect('ship');
          if (times < 3) {
            // So that the other node is done each time.
            if (times === 1) await isDone;
            await new Promise((resolve) => setImmediate(resolve));
            throw new Error(`no lorry ${times}`);
          }
          return says('shipped');
        })
        .addNode('mail', () => says(`mail ${effect('mail')}`))
        .addEdge(START, 'charge')
        .addEdge(START, 'ship')
        .addEdge(['charge', 'ship'], 'mail')
        .compile({ checkpointer });
    },
    async play(run) {
      await run.invoke(says('order'));
      await run.state();
      await run.invoke(null);
      await run.state();
      await run.invoke(null);
      await run.history();
    },
  },
  {
    title: 'a node that is tried three times within its run',
    build: (checkpointer, effect) =>
      new StateGraph(State)
        .addNode(
          'flaky',
          () => {
            if (effect('flaky') < 3) throw new Error('not yet');
            return says('at last');
          },
          { retryPolicy: { maxAttempts: 3, initialInterval: 1, jitter: false, logWarning: false } },
        )
        .addNode('beside', () => says(`beside ${effect('beside')}`))
        .addEdge(START, 'flaky')
        .addEdge(START, 'beside')
        .compile({ checkpointer }),
    async play(run) {
      await run.invoke(says('go'));
      await run.history();
    },
  },
  {
    title: 'a run that ends at its limit of steps, and goes on',
    build: (checkpointer, effect) =>
      new StateGraph(State)
        .addNode('count', () => says(`${effect('count')}`))
        .addEdge(START, 'count')
        .addConditionalEdges('count', ({ log }) => (log.length < 7 ? 'count' : END))
        .compile({ checkpointer }),
    async play(run) {
      await run.invoke(says('go'), run.config, { recursionLimit: 3 });
      await run.state();
      await run.invoke(null);
      await run.history();
    },
  },
  {
    title: 'tasks that are sent, one of which fails at first',
    build(checkpointer, effect) {
      const [areDone, finish] = signal();
      return new StateGraph(State)
        .addNode('plan', () => says('plan'))
        .addNode('work', async ({ item }) => {
          effect(`work ${item}`);
          if (item === 'b') finish();
          if (item === 'c' && effect('work') === 1) {
            await areDone;
            await new Promise((resolve) => setImmediate(resolve));
            throw new Error('broken tool');
          }
          return says(`did ${item}`);
        })
        .addNode('collect', ({ log }) => says(`${log.length} in all`))
        .addEdge(START, 'plan')
        .addConditionalEdges('plan', () => ['a', 'b', 'c'].map((item) => new Send('work', { log: [], item })))
        .addEdge('work', 'collect')
        .compile({ checkpointer });
    },
    async play(run) {
      await run.invoke(says('go'));
      await run.state();
      await run.invoke(null);
      await run.history();
    },
  },
  {
    title: 'jumps with updates, chosen by nodes and by the caller',
    build: (checkpointer, effect) =>
      new StateGraph(State)
        .addNode(
          'route',
          ({ log }) =>
            new Command({
              update: says(`route ${effect('route')}`),
              goto: log.length < 4 ? ['left', 'right'] : 'left',
            }),
          { ends: ['left', 'right'] },
        )
        .addNode('left', () => says(`left ${effect('left')}`))
        .addNode('right', () => says(`right ${effect('right')}`))
        .addEdge(START, 'route')
        .compile({ checkpointer }),
    async play(run) {
      await run.invoke(says('one'));
      await run.invoke(new Command({ update: says('by the caller'), goto: 'right' }));
      await run.invoke(new Command({ goto: new Send('left', { log: [] }) }));
      await run.invoke(says('two'));
      await run.history();
    },
  },
  {
    title: 'a workflow of functions, which remembers what it returned',
    build(checkpointer, effect) {
      const step = task('step', async (name: string) => {
        if (name === 'c' && effect('first c') === 1) throw new Error('once');
        return `${name} ${effect(name)}`;
      });
      return entrypoint({ name: 'flow', checkpointer }, async (input: string) => {
        const before = getPreviousState<string[]>() ?? [];
        const [a, b] = await Promise.all([step('a'), step('b')]);
        return [...before, input, a, b, await step('c')];
      });
    },
    async play(run) {
      await run.invoke('one');
      await run.invoke(null);
      await run.invoke('two');
      await run.history();
    },
  },
  {
    title: 'a channel that is kept as what was added',
    build: (checkpointer, effect) =>
      new StateGraph(
        Annotation.Root({
          log: () =>
            new DeltaChannel<string[], string[]>((before, added) => [...before, ...added.flat()], {
              initialValueFactory: () => [],
            }),
        }),
      )
        .addNode('add', () => ({ log: [`add ${effect('add')}`] }))
        .addNode('more', () => ({ log: [`more ${effect('more')}`] }))
        .addEdge(START, 'add')
        .addEdge(START, 'more')
        .compile({ checkpointer }),
    async play(run) {
      for (const text of ['one', 'two', 'three']) await run.invoke(says(text));
      await run.history();
    },
  },
  {
    title: 'a thread that is deleted and begins anew',
    build: (checkpointer, effect) =>
      new StateGraph(State)
        .addNode('node', ({ log }) => says(`node ${log.length} ${effect('node')}`))
        .addEdge(START, 'node')
        .compile({ checkpointer }),
    async play(run) {
      await run.invoke(says('one'));
      await run.saver.deleteThread(run.config.configurable.thread_id);
      await run.state();
      await run.invoke(says('two'));
      await run.invoke(says('three'));
      const { config } = await run.state();
      await run.history(run.config, { limit: 2 });
      await run.history(run.config, { before: config });
      await run.history(run.config, { filter: { source: 'input' } });
    },
  },
];
