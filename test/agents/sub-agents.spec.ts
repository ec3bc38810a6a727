import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import {
  type AgentContext,
  type RunHandler,
  type ToolContext,
  type Tools,
  toMessages,
} from '../../src/agents/index.js';
import { type EventInput } from '../../src/index.js';
import { until } from '../support/until.js';
import { type AgentApp, KEY, forEachTest } from './support/agent-app.js';
import { failureBy, inShort, text } from './support/handlers.js';

const REQUEST = { ...KEY, newMessage: 'hi', invocationId: 'i-1', agentName: 'root' };

function callsOf(id: string, ...names: string[]): EventInput {
  const parts = names.map((name) => ({ functionCall: { ...(id && { id: `${id}-${name}` }), name, args: {} } }));
  return { content: { role: 'model', parts } };
}

/** A sub-agent that calls these tools once. */
function calling(id: string, tools: Tools): RunHandler {
  return async function* (context: AgentContext) {
    if (context.openCalls.length === 0 && !context.session.events.some((event) => event.author === context.agentName)) {
      yield callsOf(id, ...Object.keys(tools));
    }
    if (context.openCalls.length > 0) yield await context.callTools(tools);
    return text(`${context.agentName} is done`);
  };
}

/** Takes from both, as they come. */
async function* together(...all: AsyncGenerator<EventInput, void, void>[]): AsyncGenerator<EventInput, void, void> {
  const next = new Map(all.map((each) => [each, each.next().then((result) => ({ each, result }))]));
  while (next.size > 0) {
    const { each, result } = await Promise.race(next.values());
    if (result.done === true) next.delete(each);
    else {
      yield result.value;
      next.set(
        each,
        each.next().then((following) => ({ each, result: following })),
      );
    }
  }
}

/** What an agent reads: the results of its calls, and what it is told. */
function readBy(agent: string, session: Parameters<typeof toMessages>[0], branches: 'exact' | 'prefix' = 'exact') {
  const messages = toMessages(session, { format: 'openai', agent, branch: `root.${agent}`, branches });
  return messages.flatMap((message) => {
    if (message.role === 'tool') return [`${message.tool_call_id}: ${message.content}`];
    return message.role === 'user' ? [JSON.stringify(message.content)] : [];
  });
}

describe('agents in one run', () => {
  let app: AgentApp;
  forEachTest((given) => (app = given));

  const pending = async () => (await app.agents.pendingApprovals({ appName: 'shop' })).approvals;

  it.each(['c', ''])('each read the responses to their own calls (id: %j)', async (id) => {
    const { session } = await app.agents.run(REQUEST, async function* (context) {
      yield* context.runAs('researcher', calling(id && 'r', { search: () => 'found' }), 'root.researcher');
      yield* context.runAs('critic', calling(id && 'c', { search: () => 'bad' }), 'root.critic');
      yield text('all done');
    }).result;
    const responses = (await app.log()).filter(({ content }) => content?.parts?.[0]?.functionResponse);
    expect(responses.map(({ author, branch }) => [author, branch])).toEqual([
      ['researcher', 'root.researcher'],
      ['critic', 'root.critic'],
    ]);
    expect(readBy('researcher', session)).toEqual([expect.stringMatching(/: \{"result":"found"\}$/)]);
    expect(readBy('critic', session)).toEqual([expect.stringMatching(/: \{"result":"bad"\}$/)]);
    expect(JSON.stringify(readBy('critic', session, 'prefix'))).not.toContain('found');
    expect(JSON.stringify(readBy('researcher', session, 'prefix'))).not.toContain('No result');
    expect(await app.logInShort()).toContain('researcher researcher is done');
  });

  it('do not answer calls of each other', async () => {
    const { session } = await app.agents.run(REQUEST, async function* (context) {
      const writer = context.as('writer', 'root.writer');
      yield callsOf('own', 'think');
      yield { ...callsOf('w', 'write'), author: 'writer', branch: 'root.writer' };
      expect([context.openCalls, writer.openCalls].map((calls) => calls.map(({ name }) => name))).toEqual([
        ['think'],
        ['write'],
      ]);
      yield await writer.callTools({ write: () => 'written' });
      yield await context.callTools({ think: () => 'thought' });
      yield text('done');
    }).result;
    expect(inShort(session.events)).toEqual([
      'user hi',
      'root ?own-think',
      'writer ?w-write',
      'writer !w-write',
      'root !own-think',
      'root done',
    ]);
  });

  it.each([
    ['Hello', 'authored.event: is string, and no event: give { content: {'],
    [[text('Hello')], 'authored.event: is an array, and no event'],
    [undefined, 'authored.event: is undefined, and no event'],
  ])('sign no %j, which is no event', async (given, message) => {
    const run = app.agents.run(REQUEST, async function* (context) {
      yield context.as('writer').authored(given as EventInput);
    });
    await expect(run.result).rejects.toMatchObject(failureBy({ message: expect.stringContaining(message) }));
  });

  it('respond with the name of the agent that called, whoever responds', async () => {
    await app.agents.run(REQUEST, async function* (context) {
      yield { ...callsOf('w', 'write'), author: 'writer', branch: 'root.writer' };
      const [call] = context.as('writer', 'root.writer').openCalls;
      yield context.tool(call ?? {}).respond('written');
      yield text('done');
    }).result;
    expect((await app.log())[2]).toMatchObject({ author: 'writer', branch: 'root.writer' });
  });

  it('share the branch unless they have their own', async () => {
    await app.agents.run(REQUEST, async function* (context) {
      yield* context.runAs('writer', calling('w', { write: () => 'written' }));
      yield* context.as('team', 'root.team').runAs('critic', calling('c', { read: () => 'read' }));
    }).result;
    const said = (await app.log()).map(({ author, branch }) => `${author}/${branch ?? ''}`);
    expect(new Set(said)).toEqual(new Set(['user/', 'writer/', 'critic/root.team']));
  });

  it('ask for approvals with their names, side by side, and run no tool twice', async () => {
    const paid: string[] = [];
    const gate: (() => void)[] = [];
    const slow = new Promise<void>((resolve) => gate.push(resolve));
    const handler: RunHandler = async function* (context) {
      yield* together(
        context.runAs(
          'buyer',
          calling('b', {
            buy: async (_args, tool) => {
              const { confirmed } = await tool.requestApproval({ hint: 'Buy?' }).finally(() => gate[0]?.());
              paid.push('bought');
              return { confirmed };
            },
          }),
          'root.buyer',
        ),
        context.runAs(
          'payer',
          calling('p', {
            pay: async () => {
              await slow;
              await setImmediate();
              paid.push('paid');
            },
          }),
          'root.payer',
        ),
      );
      await context.as('buyer', 'root.buyer').requestApproval({ hint: 'Keep it?' });
      await context.requestApproval({ hint: 'All fine?' });
    };
    const { status } = await app.agents.run(REQUEST, handler).result;
    expect(status).toBe('waiting');
    expect(await pending()).toMatchObject([{ approvalId: 'b-buy@i-1', agentName: 'buyer', tool: 'buy' }]);
    const asked = (await app.log()).at(-1);
    expect(asked).toMatchObject({ author: 'buyer', branch: 'root.buyer', longRunningToolIds: ['b-buy@i-1'] });
    const answer = async (approvalId: string) =>
      app.agents.answerApproval({ ...KEY, approvalId, answer: { confirmed: true } }, handler).result;
    await answer('b-buy@i-1');
    expect(paid).toEqual(['paid', 'bought']);
    expect((await pending()).map(({ agentName, approvalId }) => [agentName, approvalId])).toEqual([
      ['buyer', ',buyer,root.buyer:1@i-1'],
    ]);
    await answer(',buyer,root.buyer:1@i-1');
    expect((await pending()).map(({ agentName, approvalId }) => [agentName, approvalId])).toEqual([['root', ':1@i-1']]);
    const { events } = await answer(':1@i-1');
    expect(inShort(events)).toEqual(['buyer buyer is done', 'payer payer is done', 'root end']);
  });

  it.each([
    ['stop', 'waits'],
    ['close', 'waits'],
    ['stop', 'is refused'],
    ['close', 'is refused'],
  ])('%s at once, although a tool does not listen, when another agent %s', async (end, when) => {
    let hasAsked = false;
    const ask = async (tool: ToolContext) => {
      hasAsked = true;
      return tool.requestApproval({ schema: z.object({ by: z.string() }) });
    };
    const handler: RunHandler = async function* (context) {
      const pay = async (tool: ToolContext) =>
        when === 'waits' || context.isResumed ? new Promise(() => undefined) : tool.requestApproval();
      yield* together(
        context.runAs('payer', calling('p', { pay: async (_args, tool) => pay(tool) }), 'root.payer'),
        context.runAs('buyer', calling('b', { buy: async (_args, tool) => ask(tool) }), 'root.buyer'),
      );
    };
    let run = app.agents.run(REQUEST, handler);
    if (when === 'is refused') {
      await run.result;
      hasAsked = false;
      const wrong = { confirmed: true, payload: { by: 5 } };
      run = app.agents.answerApproval({ ...KEY, approvalId: 'b-buy@i-1', answer: wrong }, handler);
    }
    await until(() => hasAsked);
    for (let turns = 0; turns < 10; turns++) await setImmediate();
    if (end === 'stop') {
      await app.agents.stop(KEY);
      expect((await run.result).status).toBe('stopped');
    } else {
      await app.agents.close();
      await expect(run.result).rejects.toMatchObject({ code: 'AGENTS_CLOSING' });
    }
    expect((await app.logInShort()).at(-1)).toBe(end === 'stop' ? 'buyer - STOPPED' : 'system handed over');
  });

  it.each(['user', 'System'])('may not have the name %j, whose events count otherwise', async (name) => {
    const run = app.agents.run(REQUEST, async function* (context) {
      yield* context.runAs(name, calling('c', { search: () => 'found' }));
    });
    await expect(run.result).rejects.toMatchObject(failureBy({ code: 'INVALID_INPUT', path: 'agentName' }));
  });

  it('may ask at the same time, each in an event of its own', async () => {
    const ask = {
      ask: async (_args: unknown, tool: { requestApproval: (request: object) => Promise<unknown> }) =>
        tool.requestApproval({}),
    };
    const handler: RunHandler = async function* (context) {
      yield* together(
        context.runAs('one', calling('1', ask), 'root.one'),
        context.runAs('two', calling('2', ask), 'root.two'),
      );
      yield text('done');
    };
    await app.agents.run(REQUEST, handler).result;
    expect((await pending()).map(({ agentName }) => agentName).toSorted()).toEqual(['one', 'two']);
    expect((await app.logInShort()).slice(-2)).toEqual(['one ?1-ask@i-1', 'two ?2-ask@i-1']);
  });
});
