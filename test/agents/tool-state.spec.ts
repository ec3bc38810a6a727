import { type EventInput } from '../../src/index.js';
import type { AgentContext, RunHandler, Tool, ToolContext } from '../../src/agents/index.js';
import { type AgentApp, KEY, forEachTest } from './support/agent-app.js';
import { text } from './support/handlers.js';

function callsOf(...names: string[]): EventInput {
  return { content: { role: 'model', parts: names.map((name) => ({ functionCall: { id: name, name, args: {} } })) } };
}

function items({ state }: ToolContext): string[] {
  return state.get<{ items: string[] }>('cart')?.items ?? [];
}

/** An agent that calls all of these tools. */
function running(tools: Readonly<Record<string, Tool>>, after?: (context: AgentContext) => void): RunHandler {
  return async function* (context) {
    context.state['temp:seen'] = ['x'];
    if (!context.isResumed) yield callsOf(...Object.keys(tools));
    if (context.openCalls.length > 0) yield await context.callTools(tools);
    after?.(context);
    yield text('done');
  };
}

function adding(item: string): Tool {
  return function find(_args, tool) {
    tool.change('found', (found: string[] = []) => [...found, item]);
    tool.change('count', (count: number = 0) => count + 1);
    tool.change('cart', () => undefined);
  };
}

const own: Tool = (_args, tool) => {
  tool.state.found = ['own'];
  tool.change('found', (found: string[] = []) => [...found, 'c']);
};

describe('the state of a tool', () => {
  let app: AgentApp;
  forEachTest((given) => (app = given));

  const request = {
    ...KEY,
    newMessage: 'hi',
    invocationId: 'i-1',
    state: { cart: { items: ['x'] }, 'temp:seen': ['x'] },
  };
  const stored = async () => (await app.sessions.getSession(KEY))?.state.getAll();
  it('is changed once, if the tool asks for an approval in between', async () => {
    const handler = running({
      async buy(_args, tool) {
        items(tool).push('a');
        tool.state.count = tool.state.get('count', 0) + 1;
        await tool.requestApproval({ hint: 'Buy?' });
      },
    });
    await app.agents.run(request, handler).result;
    expect(await stored()).toEqual({ cart: { items: ['x'] } });
    await app.agents.answerApproval({ ...KEY, approvalId: 'buy@i-1', answer: { confirmed: true } }, handler).result;
    expect(await stored()).toEqual({ cart: { items: ['x', 'a'] }, count: 1 });
  });

  it('is not kept of a tool that throws', async () => {
    const handler = running({
      buy(_args, tool) {
        items(tool).push('a');
        tool.state.get<string[]>('temp:seen')?.push('a');
        throw new Error('no');
      },
    });
    await app.agents.run(request, handler).result.catch(() => undefined);
    expect(await stored()).toEqual({ cart: { items: ['x'] } });
    app.errors.length = 0;
  });

  it('does not show what tools beside it have half done', async () => {
    const seen: unknown[] = [];
    const handler = running(
      {
        async a(_args, tool) {
          items(tool).push('a');
          tool.state.get<string[]>('temp:seen')?.push('a');
          await Promise.resolve();
          seen.push(items(tool), tool.state['temp:seen']);
        },
        async b(_args, tool) {
          await Promise.resolve();
          seen.push([...items(tool)], tool.state['temp:seen']);
        },
      },
      ({ state }) => seen.push(state.cart, state['temp:seen']),
    );
    await app.agents.run(request, handler).result;
    expect(seen).toEqual([['x', 'a'], ['x', 'a'], ['x'], ['x'], { items: ['x', 'a'] }, ['x', 'a']]);
    expect(await stored()).toEqual({ cart: { items: ['x', 'a'] } });
  });

  it('is changed together by tools that say how', async () => {
    await app.agents.run(request, running({ a: adding('a'), b: adding('b') })).result;
    expect(await stored()).toEqual({ found: ['a', 'b'], count: 2 });
    await app.agents.run({ ...request, invocationId: 'i-2' }, running({ own, d: adding('d') })).result;
    expect(await stored()).toEqual({ found: ['own', 'c', 'd'], count: 3 });
    const deltas = (await app.log()).map(({ actions }) => actions.stateDelta);
    expect(deltas).toContainEqual({ found: ['a', 'b'], count: 2 });
  });

  it('and its actions are what they were when it responded', async () => {
    const list = ['a'];
    const artifacts = { 'a.png': 1 };
    let kept: ToolContext | undefined;
    await app.agents.run(request, async function* (context) {
      yield callsOf('buy');
      kept = context.tool(context.openCalls[0] ?? {});
      kept.state.list = list;
      kept.actions.artifactDelta = artifacts;
      const event = kept.respond('bought');
      list.push('b');
      artifacts['a.png'] = 2;
      kept.state.get<string[]>('list')?.push('c');
      yield event;
      list.push('d');
      context.state.get<string[]>('list')?.push('e');
      yield text('done');
    }).result;
    const [, , response, last] = (await app.log()).map(({ actions }) => actions);
    expect(response).toMatchObject({ stateDelta: { list: ['a'] }, artifactDelta: { 'a.png': 1 } });
    expect(last).toMatchObject({ stateDelta: { list: ['a', 'e'] } });
  });

  it('shares objects of classes, such as clients, under keys that are never stored', async () => {
    const client = new (class Client {
      calls = 0;
    })();
    let isSame: unknown;
    await app.agents.run(request, async function* (context) {
      context.state['temp:client'] = client;
      yield callsOf('a');
      yield await context.callTools({ a: (_args, { state }) => void (isSame = state['temp:client'] === client) });
      yield text('done');
    }).result;
    expect(isSame).toBe(true);
  });

  it('and its arguments do not change what the model said', async () => {
    const { session } = await app.agents.run(request, async function* (context) {
      yield { content: { role: 'model', parts: [{ functionCall: { id: 'a', name: 'a', args: { ids: [1] } } }] } };
      yield await context.callTools({ a: ({ ids }) => (ids as number[]).push(2) });
      yield text('done');
    }).result;
    const call = session.events[1]?.content?.parts?.[0]?.functionCall;
    expect(call?.args).toEqual({ ids: [1] });
  });
});
