import { Command, START, StateGraph, interrupt } from '@langchain/langgraph';
import { State, says } from './graph-state.js';
import type { Scenario } from './scenarios.js';

/** How the thread of a subgraph lives: with the task that runs it, or as long as the thread. */
type Life = 'of its task' | 'of the thread';

const LIVES: readonly Life[] = ['of its task', 'of the thread'];

/** A subgraph that works, and asks if it is wanted. */
export function subgraph(name: string, life: Life, effect: (name: string) => number, asks = false) {
  return new StateGraph(State)
    .addNode('work', ({ log }) => says(`${name} works after ${log.length}, ${effect(`${name} works`)}`))
    .addNode('check', () => {
      const line = `${name} checks ${effect(`${name} checks`)}`;
      return says(asks ? `${line} ${String(interrupt(`${name}?`))}` : line);
    })
    .addEdge(START, 'work')
    .addEdge('work', 'check')
    .compile(life === 'of the thread' ? { checkpointer: true } : {});
}

const answeredTwice: Scenario['play'] = async (run) => {
  for (const resume of ['one', 'two']) {
    await run.invoke(says('go'));
    await run.state();
    await run.invoke(new Command({ resume }));
  }
  await run.history();
};

/** Graphs in graphs. */
export const subgraphScenarios: readonly Scenario[] = [
  ...LIVES.map((life): Scenario => ({
    title: `a subgraph with the life ${life} that asks, twice`,
    build: (checkpointer, effect) =>
      new StateGraph(State)
        .addNode('before', () => says(`before ${effect('before')}`))
        .addNode('inner', subgraph('inner', life, effect, true))
        .addNode('after', ({ log }) => says(`after ${log.length} ${effect('after')}`))
        .addEdge(START, 'before')
        .addEdge('before', 'inner')
        .addEdge('inner', 'after')
        .compile({ checkpointer }),
    play: answeredTwice,
  })),
  ...LIVES.map((life): Scenario => ({
    title: `two subgraphs with lives ${life} beside each other and a node that is done`,
    build: (checkpointer, effect) =>
      new StateGraph(State)
        .addNode('left', subgraph('left', life, effect, true))
        .addNode('right', subgraph('right', life, effect))
        .addNode('beside', () => says(`beside ${effect('beside')}`))
        .addEdge(START, 'left')
        .addEdge(START, 'right')
        .addEdge(START, 'beside')
        .compile({ checkpointer }),
    play: answeredTwice,
  })),
  {
    title: 'three levels, the lowest of which asks',
    build(checkpointer, effect) {
      const middle = new StateGraph(State)
        .addNode('lowest', subgraph('lowest', 'of its task', effect, true))
        .addNode('then', () => says(`then ${effect('then')}`))
        .addEdge(START, 'lowest')
        .addEdge('lowest', 'then')
        .compile();
      return new StateGraph(State)
        .addNode('middle', middle)
        .addNode('end', () => says(`end ${effect('end')}`))
        .addEdge(START, 'middle')
        .addEdge('middle', 'end')
        .compile({ checkpointer });
    },
    async play(run) {
      await run.invoke(says('go'));
      await run.state();
      await run.invoke(new Command({ resume: 'yes' }));
      await run.invoke(says('again'));
      await run.history();
    },
  },
  {
    title: 'a node that calls a subgraph, and jumps out of one',
    build(checkpointer, effect) {
      const called = subgraph('called', 'of its task', effect, true);
      const leaving = new StateGraph(State)
        .addNode(
          'leave',
          () => new Command({ graph: Command.PARENT, update: says(`left ${effect('leave')}`), goto: 'end' }),
        )
        .addEdge(START, 'leave')
        .compile();
      return new StateGraph(State)
        .addNode('call', async (state) => says(`called: ${(await called.invoke(state)).log.length} ${effect('call')}`))
        .addNode('leaving', leaving, { ends: ['end'] })
        .addNode('end', () => says(`end ${effect('end')}`))
        .addEdge(START, 'call')
        .addEdge('call', 'leaving')
        .compile({ checkpointer });
    },
    async play(run) {
      await run.invoke(says('go'));
      await run.invoke(new Command({ resume: 'yes' }));
      await run.history();
    },
  },
];
