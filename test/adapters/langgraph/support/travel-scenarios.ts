import { Command, START, StateGraph, interrupt } from '@langchain/langgraph';
import { State, isBefore, says } from './graph-state.js';
import type { Scenario } from './scenarios.js';
import { subgraph } from './subgraph-scenarios.js';

const twoSteps: Scenario['build'] = (checkpointer, effect) =>
  new StateGraph(State)
    .addNode('a', ({ log }) => says(`a ${log.length} ${effect('a')}`))
    .addNode('b', ({ log }) => says(`b ${log.length} ${effect('b')}`))
    .addEdge(START, 'a')
    .addEdge('a', 'b')
    .compile({ checkpointer });

/** Runs that begin at an earlier checkpoint, and changes there. */
export const travelScenarios: readonly Scenario[] = [
  {
    title: 'back to an earlier step, on from there, and forward again',
    build: (checkpointer, effect) =>
      new StateGraph(State)
        .addNode('a', ({ log }) => ({ ...says(`a ${log.length} ${effect('a')}`), last: 'a' }))
        .addNode('b', ({ log }) => ({ ...says(`b ${log.length} ${effect('b')}`), last: 'b' }))
        .addEdge(START, 'a')
        .addEdge('a', 'b')
        .compile({ checkpointer }),
    async play(run) {
      await run.invoke(says('one'));
      await run.invoke(says('two'));
      const { config: newest } = await run.state();
      const middle = await run.earlier(isBefore('b'));
      await run.invoke(null, middle);
      await run.state();
      await run.invoke(says('three'));
      await run.invoke(says('other'), middle);
      await run.invoke(says('four'), newest);
      await run.state();
      await run.history();
    },
  },
  {
    title: 'changes at an earlier step, in two branches',
    build: twoSteps,
    async play(run) {
      await run.invoke(says('one'));
      const middle = await run.earlier(isBefore('b'));
      const first = await run.update(middle, says('first branch'), 'a');
      const second = await run.update(middle, says('second branch'), 'a');
      await run.invoke(null, first);
      await run.state();
      await run.invoke(null, second);
      await run.state(first);
      await run.update(run.config, null, '__end__');
      await run.state();
      await run.history();
    },
  },
  {
    title: 'copies of checkpoints, and input by an update',
    build: twoSteps,
    async play(run) {
      await run.invoke(says('one'));
      const middle = await run.earlier(isBefore('b'));
      await run.invoke(null, await run.update(middle, null, '__copy__'));
      await run.state();
      const first = await run.earlier(({ metadata }) => metadata?.source === 'input');
      await run.invoke(null, await run.update(first, null, '__copy__'));
      await run.update(run.config, says('typed'), '__input__');
      await run.invoke(null);
      await run.history();
    },
  },
  {
    title: 'back to before a question, beside a node that is done',
    build: (checkpointer, effect) =>
      new StateGraph(State)
        .addNode('plan', () => says(`plan ${effect('plan')}`))
        .addNode('ask', () => says(`${effect('ask')} ${String(interrupt('Go?'))}`))
        .addNode('beside', () => says(`beside ${effect('beside')}`))
        .addEdge(START, 'plan')
        .addEdge('plan', 'ask')
        .addEdge('plan', 'beside')
        .compile({ checkpointer }),
    async play(run) {
      await run.invoke(says('go'));
      await run.invoke(new Command({ resume: 'first' }));
      const plan = await run.earlier(isBefore('plan'));
      await run.invoke(null, plan);
      await run.state();
      await run.invoke(new Command({ resume: 'second' }));
      await run.update(await run.earlier(isBefore('ask', 'beside')), says('changed'), 'plan');
      await run.invoke(null);
      await run.invoke(new Command({ resume: 'third' }));
      await run.history();
    },
  },
  {
    title: 'two levels of subgraphs of the thread, from earlier steps',
    build(checkpointer, effect) {
      const middle = new StateGraph(State)
        .addNode('lowest', subgraph('lowest', 'of the thread', effect))
        .addNode('sum', ({ log }) => says(`sum ${log.length} ${effect('sum')}`))
        .addEdge(START, 'lowest')
        .addEdge('lowest', 'sum')
        .compile({ checkpointer: true });
      return new StateGraph(State)
        .addNode('plan', ({ log }) => says(`plan ${log.length} ${effect('plan')}`))
        .addNode('middle', middle)
        .addNode('end', ({ log }) => says(`end ${log.length} ${effect('end')}`))
        .addEdge(START, 'plan')
        .addEdge('plan', 'middle')
        .addEdge('middle', 'end')
        .compile({ checkpointer });
    },
    async play(run) {
      for (const text of ['one', 'two', 'three']) await run.invoke(says(text));
      const early = (await run.history()).filter(isBefore('middle')).map(({ config }) => config);
      for (const config of early) await run.invoke(null, config);
      await run.state();
      await run.invoke(says('four'));
      await run.invoke(null, await run.update(early.at(-1) ?? run.config, says('changed'), 'plan'));
      await run.invoke(null, await run.earlier(isBefore('end')));
      await run.invoke(says('five'));
      await run.history();
    },
  },
  {
    title: 'a subgraph that asks, from before and from within',
    build: (checkpointer, effect) =>
      new StateGraph(State)
        .addNode('plan', () => says(`plan ${effect('plan')}`))
        .addNode('inner', subgraph('inner', 'of the thread', effect, true))
        .addNode('end', ({ log }) => says(`end ${log.length} ${effect('end')}`))
        .addEdge(START, 'plan')
        .addEdge('plan', 'inner')
        .addEdge('inner', 'end')
        .compile({ checkpointer }),
    async play(run) {
      for (const text of ['one', 'two']) {
        await run.invoke(says(text));
        await run.invoke(new Command({ resume: `yes to ${text}` }));
      }
      const before = await run.earlier(isBefore('inner'));
      await run.invoke(null, before);
      await run.state();
      await run.invoke(new Command({ resume: 'another' }));
      await run.invoke(null, await run.earlier(isBefore('plan')));
      const { tasks } = await run.state();
      const inner = tasks[0]?.state;
      if (inner && 'config' in inner) await run.invoke(null, inner.config);
      await run.invoke(new Command({ resume: 'from within' }));
      await run.history();
    },
  },
  {
    title: 'a subgraph in a loop, from the middle of the loop',
    build: (checkpointer, effect) =>
      new StateGraph(State)
        .addNode('inner', subgraph('inner', 'of the thread', effect))
        .addNode('again', ({ log }) => says(`again ${log.length} ${effect('again')}`))
        .addEdge(START, 'inner')
        .addEdge('inner', 'again')
        .addConditionalEdges('again', ({ log }) =>
          log.filter((line) => line.startsWith('again')).length < 3 ? 'inner' : '__end__',
        )
        .compile({ checkpointer }),
    async play(run) {
      await run.invoke(says('go'));
      const loops = (await run.history()).filter(isBefore('inner')).map(({ config }) => config);
      for (const config of loops) await run.invoke(null, config);
      await run.state();
      await run.history();
    },
  },
];
