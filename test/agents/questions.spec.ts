import { z } from 'zod';
import type { AgentContext, ApprovalRequest, RunHandler, ToolContext } from '../../src/agents/index.js';
import { type EventInput } from '../../src/index.js';
import { type AgentApp, KEY, forEachTest } from './support/agent-app.js';
import { inShort, text } from './support/handlers.js';

const REQUEST = { ...KEY, newMessage: 'hi', invocationId: 'i-1' };

/** An agent whose tool `ask` does this. */
function asking(ask: (tool: ToolContext) => unknown, calls: EventInput = callsOf('c1')): RunHandler {
  return async function* (context: AgentContext) {
    if (!context.isResumed) yield calls;
    yield await context.callTools({ ask: (_args, tool) => ask(tool) });
    yield text('done');
  };
}

function callsOf(...ids: string[]): EventInput {
  const parts = ids.map((id, place) => ({ functionCall: { ...(id && { id }), name: 'ask', args: { place } } }));
  return { content: { role: 'model', parts } };
}

const askingItself: RunHandler = async function* (context) {
  if (!context.isResumed) yield callsOf('c1');
  const [call] = context.openCalls;
  const first = await context.requestApproval({ hint: 'Transfer 5?' }, call);
  const second = await context.requestApproval({ hint: 'Really?' }, call);
  yield context.tool(call ?? {}).respond([first.confirmed, second.confirmed]);
  yield text('done');
};

const askingForAll: RunHandler = async function* (context) {
  if (!context.isResumed) yield callsOf('1', '', 'call-2', 'a@b:2');
  await Promise.allSettled([
    context.requestApproval({ hint: 'Of the handler?' }),
    ...context.openCalls.map(async (call) => context.requestApproval({ hint: 'Of a call?' }, call)),
  ]);
  await context.requestApproval({ id: 'last' });
};

const catching: RunHandler = async function* (context) {
  await context.requestApproval({ hint: 'Transfer 5?' }).catch(() => undefined);
  yield text('done');
};

const askForAll = async (tool: ToolContext) => {
  const { confirmed } = await tool.requestApproval({
    id: 'all',
    hint: 'All?',
    payload: { at: new Date(0) },
    schema: z.object({ amount: z.number() }),
  });
  return { confirmed };
};

const payingOtherwise: RunHandler = async function* (context) {
  if (!context.isResumed) yield callsOf('c1');
  yield await context.callTools(
    {
      async ask(_args, tool) {
        await tool.requestApproval({ hint: 'Pay 5?' });
        throw new Error('The bank is closed.');
      },
    },
    {
      onError: async (_error, tool) => {
        const { confirmed } = await tool.requestApproval({ hint: 'Pay by cheque?' });
        return { byCheque: confirmed };
      },
    },
  );
};

describe('the questions of a tool', () => {
  let app: AgentApp;
  forEachTest((given) => (app = given));

  const pending = async () => (await app.agents.pendingApprovals({ appName: 'shop' })).approvals;
  const answer = async (approvalId: string, confirmed: boolean, handler: RunHandler) =>
    app.agents.answerApproval({ ...KEY, approvalId, answer: { confirmed } }, handler).result;

  it('each have an answer of their own', async () => {
    const handler = asking(async (tool) => {
      const first = await tool.requestApproval({ hint: 'Transfer 5?' });
      const second = await tool.requestApproval({ hint: 'Really, to a stranger?' });
      return { first: first.confirmed, second: second.confirmed };
    });
    expect((await app.agents.run(REQUEST, handler).result).status).toBe('waiting');
    expect((await pending()).map(({ approvalId, hint }) => [approvalId, hint])).toEqual([['c1@i-1', 'Transfer 5?']]);
    expect((await answer('c1@i-1', true, handler)).status).toBe('waiting');
    expect((await pending()).map(({ approvalId, hint }) => [approvalId, hint])).toEqual([
      ['c1:2@i-1', 'Really, to a stranger?'],
    ]);
    const { status, events } = await answer('c1:2@i-1', false, handler);
    expect([status, ...inShort(events)]).toEqual(['completed', 'agent !c1', 'agent done']);
    expect(events[0]?.content?.parts?.[0]?.functionResponse?.response).toEqual({ first: true, second: false });
  });

  it('each have an answer of their own if the handler asks for the call itself', async () => {
    await app.agents.run(REQUEST, askingItself).result;
    await answer('c1@i-1', true, askingItself);
    expect((await answer('c1:2@i-1', false, askingItself)).status).toBe('completed');
  });

  it.each<[string, ApprovalRequest, ApprovalRequest]>([
    ['hint', { hint: 'Transfer 5?' }, { hint: 'Transfer 500?' }],
    ['payload', { payload: { amount: 5 } }, { payload: { amount: 500 } }],
    ['schema', { schema: z.object({ amount: z.number() }) }, { schema: z.object({ amount: z.string() }) }],
  ])('are refused under one id with another %s', async (difference, first, second) => {
    const handler = asking(async (tool) => {
      await tool.requestApproval({ id: 'transfer', ...first }).catch(() => undefined);
      return tool.requestApproval({ id: 'transfer', ...second }).catch((error: unknown) => error);
    });
    const seen: unknown[] = [];
    const watching: RunHandler = async function* (context) {
      yield callsOf('c1');
      const tool = context.tool(context.openCalls[0] ?? {});
      await tool.requestApproval({ id: 'transfer', ...first }).catch(() => undefined);
      seen.push(await tool.requestApproval({ id: 'transfer', ...second }).catch((error: unknown) => error));
      yield tool.respond('refused');
      yield text('done');
    };
    await app.agents.run(REQUEST, watching).result;
    expect(seen).toMatchObject([{ code: 'APPROVAL_CHANGED', approvalId: 'transfer@i-1', difference }]);
    expect(app.errors.splice(0)).toMatchObject([{ name: 'UnaskedApprovalWarning' }]);
    await app.agents.run({ ...REQUEST, invocationId: 'i-2' }, handler).result;
    expect((await pending()).map(({ approvalId }) => approvalId)).toEqual(['transfer@i-2']);
  });

  it('may be asked again with the same words, and share the answer', async () => {
    const handler = asking(askForAll, callsOf('c1', 'c2'));
    await app.agents.run(REQUEST, handler).result;
    expect(await pending()).toHaveLength(1);
    expect(inShort((await answer('all@i-1', false, handler)).events)).toEqual(['agent !c1 !c2', 'agent done']);
  });

  it('are not answered by the answer to another question, if the tool asks something else when it is called again', async () => {
    const prices = [5, 500];
    const bought: unknown[] = [];
    const handler = asking(async (tool) => {
      await tool.requestApproval({ hint: `Buy for ${prices.shift()}?` });
      bought.push(tool.functionCallId);
    });
    await app.agents.run(REQUEST, handler).result;
    await answer('c1@i-1', true, handler).catch(() => undefined);
    expect(bought).toEqual([]);
    expect(JSON.stringify(await app.log())).not.toContain('Buy for 500');
    app.errors.length = 0;
  });

  it('of calls of one message with the same id are two, in any order', async () => {
    const handler = asking(
      async (tool) => ({ place: tool.call.args?.place, ...(await tool.requestApproval({ hint: 'Go on?' })) }),
      callsOf('c1', 'c1'),
    );
    await app.agents.run(REQUEST, handler).result;
    const [first, second] = (await pending())
      .map(({ approvalId }) => approvalId)
      .toSorted()
      .toReversed();
    expect(inShort((await answer(second ?? '', false, handler)).events)).toEqual(['agent !c1#2', 'agent end']);
    const { events } = await answer(first ?? '', true, handler);
    expect(inShort(events)).toEqual(['agent !c1', 'agent done']);
  });

  it('are others than those of what happens when it fails', async () => {
    await app.agents.run(REQUEST, payingOtherwise).result;
    await answer('c1@i-1', true, payingOtherwise);
    expect(await pending()).toMatchObject([{ approvalId: 'c1:2@i-1', hint: 'Pay by cheque?' }]);
    const { events } = await answer('c1:2@i-1', false, payingOtherwise);
    expect(events[0]?.content?.parts?.[0]?.functionResponse?.response).toEqual({ byCheque: false });
    expect(app.errors.splice(0)).toHaveLength(2);
  });

  it('of calls without id are those of one call, whichever of them asks', async () => {
    for (const place of [0, 1]) {
      const request = { ...REQUEST, sessionId: `s-${place}` };
      const done: unknown[] = [];
      const handler = asking(
        async (tool) => {
          const { confirmed } = tool.args.place === place ? await tool.requestApproval() : { confirmed: 'not asked' };
          done.push([tool.args.place, confirmed]);
        },
        callsOf('', ''),
      );
      await app.agents.run(request, handler).result;
      const approvalId = (await pending())[0]?.approvalId ?? '';
      const given = { ...KEY, sessionId: request.sessionId, approvalId, answer: { confirmed: true } };
      const { status } = await app.agents.answerApproval(given, handler).result;
      expect([status, ...done]).toEqual(['completed', [1 - place, 'not asked'], [place, true]]);
    }
  });

  it('are not lost in silence if the handler catches what should end the turn', async () => {
    expect((await app.agents.run(REQUEST, catching).result).status).toBe('completed');
    expect(await pending()).toEqual([]);
    expect(app.errors.splice(0)).toMatchObject([
      { name: 'UnaskedApprovalWarning', message: expect.stringContaining('"Transfer 5?"') as string },
    ]);
  });

  it('have ids that do not depend on names of the model', async () => {
    await app.agents.run(REQUEST, askingForAll).result;
    const ids = (await pending()).map(({ approvalId }) => approvalId);
    const named = ids.filter((id) => !id.startsWith('adk-'));
    expect(named.toSorted()).toEqual(['1@i-1', ':1@i-1', 'a%40b%3A2@i-1', 'call-2@i-1', 'last@i-1']);
    expect(ids).toHaveLength(6);
  });
});
