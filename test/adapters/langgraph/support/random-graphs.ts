import { Command, START, Send, StateGraph, interrupt } from '@langchain/langgraph';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import fc from 'fast-check';
import { State, says } from './graph-state.js';
import { type JudgedRun, questionsIn } from './judged-run.js';
import { subgraph } from './subgraph-scenarios.js';

/** What a node does. Those of a layer run at the same time. */
type Kind =
  | 'works'
  | 'asks'
  | 'asks twice'
  | 'fails at first'
  | 'sends'
  | 'subgraph'
  | 'asking subgraph'
  | 'subgraph of the thread';

/** The layers of a graph, which run one after the other. */
export type Layers = readonly (readonly Kind[])[];

const QUIET: readonly Kind[] = ['works', 'asks', 'asks twice'];
const SUBGRAPHS: readonly Kind[] = ['subgraph', 'asking subgraph', 'subgraph of the thread'];

/** A failure ends what runs beside it, wherever that is. So it runs only beside nodes that are done at once. */
const layer = fc.oneof(
  fc.array(fc.constantFrom(...QUIET, ...SUBGRAPHS), { minLength: 1, maxLength: 3 }),
  fc.array(fc.constantFrom(...QUIET), { maxLength: 2 }).map((kinds): Kind[] => ['fails at first', ...kinds]),
  fc.constant<Kind[]>(['sends']),
);

export const randomLayers: fc.Arbitrary<Layers> = fc.array(layer, { minLength: 1, maxLength: 3 });

/** The graph of these layers. */
export function graphOf(layers: Layers, checkpointer: BaseCheckpointSaver, effect: (name: string) => number): unknown {
  // LangGraph's types know names of nodes only if they are written one by one.
  const graph = new StateGraph(State) as unknown as UntypedGraph;
  let before: readonly string[] = [START];
  for (const [depth, kinds] of layers.entries()) {
    const names = kinds.map((_, index) => `n${depth}${index}`);
    for (const [index, kind] of kinds.entries()) addNode(graph, names[index] ?? '', kind, effect);
    for (const name of names) graph.addEdge(before.length === 1 ? (before[0] ?? START) : before, name);
    before = kinds[0] === 'sends' ? names.map((name) => `${name}-worker`) : names;
  }
  return graph.compile({ checkpointer });
}

interface UntypedGraph {
  addNode(name: string, node: unknown): unknown;
  addEdge(from: string | readonly string[], to: string): unknown;
  addConditionalEdges(from: string, choose: () => Send[], to: readonly string[]): unknown;
  compile(options: object): unknown;
}

function addNode(graph: UntypedGraph, name: string, kind: Kind, effect: (name: string) => number): void {
  const asked = (times: number): string =>
    Array.from({ length: times }, (_, index) => String(interrupt(`${name} ${index}?`))).join();
  switch (kind) {
    case 'works':
      graph.addNode(name, ({ log }: typeof State.State) => ({
        ...says(`${name} after ${log.length}: ${effect(name)}`),
        item: name,
      }));
      break;
    case 'asks':
    case 'asks twice':
      graph.addNode(name, () => says(`${name} ${effect(name)} ${asked(kind === 'asks' ? 1 : 2)}`));
      break;
    case 'fails at first':
      graph.addNode(name, async () => {
        for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
        if (effect(name) % 2 === 1) throw new Error(`${name} failed`);
        return says(`${name} did it`);
      });
      break;
    case 'sends':
      graph.addNode(name, () => says(`${name} sends ${effect(name)}`));
      graph.addNode(`${name}-worker`, ({ item }: typeof State.State) => {
        effect(`${name} ${item}`);
        return says(`${name} ${item} ${item === 'b' ? asked(1) : ''}`);
      });
      graph.addConditionalEdges(
        name,
        () => ['a', 'b', 'c'].map((item) => new Send(`${name}-worker`, { log: [], item })),
        [`${name}-worker`],
      );
      break;
    default:
      graph.addNode(
        name,
        subgraph(
          name,
          kind === 'subgraph of the thread' ? 'of the thread' : 'of its task',
          effect,
          kind === 'asking subgraph',
        ),
      );
  }
}

/** What somebody does with a graph. `at` chooses a state of the history. */
type Action =
  | { readonly kind: 'say' | 'retry' | 'answer all' | 'answer one' | 'answer plainly' | 'look' }
  | { readonly kind: 'replay' | 'say there' | 'change' | 'change and go on' | 'copy'; readonly at: number };

const plainAction = fc.record({
  kind: fc.constantFrom('say', 'retry', 'answer all', 'answer one', 'answer plainly', 'look'),
});
const placedAction = fc.record({
  kind: fc.constantFrom('replay', 'say there', 'change', 'change and go on', 'copy'),
  at: fc.nat(20),
});

export const randomActions: fc.Arbitrary<readonly Action[]> = fc.array(
  fc.oneof({ weight: 3, arbitrary: plainAction }, { weight: 2, arbitrary: placedAction }),
  { minLength: 2, maxLength: 8 },
);

/** Does all of it, after a first run. */
export async function act(run: JudgedRun, actions: readonly Action[]): Promise<void> {
  let said = 0;
  const say = () => says(`said ${said++}`);
  let questions = questionsIn(await run.invoke(say()));
  for (const action of actions) {
    const answer = await actOnce(run, action, questions, say);
    if (answer !== undefined) questions = questionsIn(answer);
  }
}

async function actOnce(
  run: JudgedRun,
  action: Action,
  questions: ReturnType<typeof questionsIn>,
  say: () => { log: string[] },
): Promise<unknown> {
  const answers = questions.map(({ id, value }): [string, string] => [id, `yes to ${String(value)}`]);
  switch (action.kind) {
    case 'say':
      return run.invoke(say());
    case 'retry':
      return run.invoke(null);
    case 'answer all':
      return run.invoke(new Command({ resume: Object.fromEntries(answers) }));
    case 'answer one':
      return run.invoke(new Command({ resume: Object.fromEntries(answers.slice(0, 1)) }));
    case 'answer plainly':
      return run.invoke(new Command({ resume: 'plainly' }));
    case 'look':
      await run.state();
      return undefined;
    default:
  }
  const history = await run.history();
  const place = history[action.at % history.length]?.config ?? run.config;
  switch (action.kind) {
    case 'replay':
      return run.invoke(null, place);
    case 'say there':
      return run.invoke(say(), place);
    case 'change':
      await run.update(place, say(), 'n00');
      return undefined;
    case 'change and go on':
      return run.invoke(null, await run.update(place, say(), 'n00'));
    case 'copy':
      return run.invoke(null, await run.update(place, null, '__copy__'));
  }
}
