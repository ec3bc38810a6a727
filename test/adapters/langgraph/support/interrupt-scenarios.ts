import { Command, START, Send, StateGraph, entrypoint, interrupt, task } from '@langchain/langgraph';
import { signal } from './gate.js';
import { State, isBefore, says } from './graph-state.js';
import { questionsIn } from './judged-run.js';
import type { Scenario } from './scenarios.js';

/** Runs that stop for a person, and go on with the answer. */
export const interruptScenarios: readonly Scenario[] = [
  {
    title: 'a card is charged beside a question, and once only',
    build: (checkpointer, effect) =>
      new StateGraph(State)
        .addNode('charge', () => says(`charged ${effect('charge')}`))
        .addNode('ask', () => says(`asked ${effect('ask')} ${String(interrupt('May I?'))}`))
        .addEdge(START, 'charge')
        .addEdge(START, 'ask')
        .compile({ checkpointer }),
    async play(run) {
      await run.invoke(says('order'));
      await run.state();
      await run.invoke(new Command({ resume: 'yes' }));
      await run.history();
    },
  },
  {
    title: 'several questions of one node, after another step',
    build: (checkpointer, effect) =>
      new StateGraph(State)
        .addNode('before', () => says(`before ${effect('before')}`))
        .addNode('ask', () => {
          effect('ask');
          const answers = ['name', 'age', 'town'].map((question) => interrupt<string, string>(question));
          return says(answers.join());
        })
        .addEdge(START, 'before')
        .addEdge('before', 'ask')
        .compile({ checkpointer }),
    async play(run) {
      await run.invoke(says('go'));
      for (const resume of ['Ann', 7, 'Ulm']) {
        await run.state();
        await run.invoke(new Command({ resume }));
      }
      await run.history();
    },
  },
  {
    title: 'questions of several nodes, answered by id, one after the other',
    build: (checkpointer, effect) =>
      new StateGraph(State)
        .addNode('first', () => says(`first ${effect('first')} ${String(interrupt('1?'))}`))
        .addNode('second', () => says(`second ${effect('second')} ${String(interrupt('2?'))}`))
        .addNode('third', () => says(`third ${effect('third')}`))
        .addNode('end', ({ log }) => says(`${log.length} ${effect('end')}`))
        .addEdge(START, 'first')
        .addEdge(START, 'second')
        .addEdge(START, 'third')
        .addEdge(['first', 'second', 'third'], 'end')
        .compile({ checkpointer }),
    async play(run) {
      const questions = questionsIn(await run.invoke(says('go')));
      for (const { id, value } of questions.toReversed()) {
        await run.invoke(new Command({ resume: { [id]: `answer to ${String(value)}` } }));
        await run.state();
      }
      await run.history();
    },
  },
  {
    title: 'questions of tasks that were sent, answered together',
    build: (checkpointer, effect) =>
      new StateGraph(State)
        .addNode('plan', () => says(`plan ${effect('plan')}`))
        .addNode('work', ({ item }) => {
          effect(item);
          return says(`${item} ${item === 'b' ? 'freely' : String(interrupt(item))}`);
        })
        .addEdge(START, 'plan')
        .addConditionalEdges('plan', () => ['a', 'b', 'c'].map((item) => new Send('work', { log: [], item })))
        .compile({ checkpointer }),
    async play(run) {
      const questions = questionsIn(await run.invoke(says('go')));
      await run.state();
      const resume = Object.fromEntries(questions.map(({ id, value }) => [id, `yes to ${String(value)}`]));
      await run.invoke(new Command({ resume }));
      await run.history();
    },
  },
  {
    title: 'a question beside a failure, both in the end done',
    build(checkpointer, effect) {
      const [isAsked, ask] = signal();
      return new StateGraph(State)
        .addNode('ask', () => {
          effect('ask');
          ask();
          return says(String(interrupt('Well?')));
        })
        .addNode('fail', async () => {
          await isAsked;
          await new Promise((resolve) => setImmediate(resolve));
          if (effect('fail') === 1) throw new Error('broken');
          return says('mended');
        })
        .addEdge(START, 'ask')
        .addEdge(START, 'fail')
        .compile({ checkpointer });
    },
    async play(run) {
      await run.invoke(says('go'));
      await run.state();
      await run.invoke(null);
      await run.state();
      await run.invoke(new Command({ resume: 'well' }));
      await run.history();
    },
  },
  {
    title: 'stops before and after nodes, with changes by the caller in between',
    build: (checkpointer, effect) =>
      new StateGraph(State)
        .addNode('a', () => says(`a ${effect('a')}`))
        .addNode('b', () => says(`b ${effect('b')}`))
        .addNode('c', () => says(`c ${effect('c')}`))
        .addEdge(START, 'a')
        .addEdge('a', 'b')
        .addEdge('b', 'c')
        .compile({ checkpointer, interruptBefore: ['b'], interruptAfter: ['b'] }),
    async play(run) {
      await run.invoke(says('go'));
      await run.update(run.config, says('changed'));
      await run.invoke(null);
      await run.state();
      await run.update(run.config, says('as a'), 'a');
      await run.invoke(null);
      await run.invoke(null);
      await run.history();
    },
  },
  {
    title: 'another answer to an old question, and the first one stays',
    build: (checkpointer, effect) =>
      new StateGraph(State)
        .addNode('work', () => says(`work ${effect('work')}`))
        .addNode('ask', () => says(`${effect('ask')} ${String(interrupt('Which?'))}`))
        .addNode('end', () => says(`end ${effect('end')}`))
        .addEdge(START, 'work')
        .addEdge('work', 'ask')
        .addEdge('ask', 'end')
        .compile({ checkpointer }),
    async play(run) {
      await run.invoke(says('go'));
      await run.invoke(new Command({ resume: 'red' }));
      const asked = await run.earlier(isBefore('ask'));
      await run.invoke(null, asked);
      await run.state();
      await run.invoke(new Command({ resume: 'blue' }));
      await run.invoke(new Command({ resume: 'green' }), asked);
      await run.history();
    },
  },
  {
    title: 'a workflow of functions that asks',
    build(checkpointer, effect) {
      const step = task('step', async (name: string) => `${name} ${effect(name)}`);
      return entrypoint({ name: 'flow', checkpointer }, async (input: string) => {
        const done = await step('draft');
        const review = interrupt<string, string>(`Is ${done} good?`);
        return [input, done, review, await step('send')];
      });
    },
    async play(run) {
      await run.invoke('letter');
      await run.state();
      await run.invoke(new Command({ resume: 'good' }));
      await run.history();
    },
  },
];
