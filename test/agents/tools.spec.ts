import { setImmediate } from 'node:timers/promises';
import { type EventInput, getFunctionCalls } from '../../src/index.js';
import { type AgentContext, type RunHandler, toMessages } from '../../src/agents/index.js';
import { type AgentApp, KEY, forEachTest } from './support/agent-app.js';
import { call, failureBy, inShort, text } from './support/handlers.js';

describe('what a handler changes', () => {
  let app: AgentApp;
  forEachTest((given) => (app = given));

  const deltas = async () => (await app.log()).map(({ actions }) => actions.stateDelta);

  it('is stored with the next event that it yields', async () => {
    await app.agents.run(
      { ...KEY, newMessage: 'hi', stateDelta: { asked: 1 }, state: { old: 1 } },
      async function* ({ state }) {
        state.step = 1;
        state.list = ['a'];
        yield text('one');
        state.get<string[]>('list')?.push('b');
        delete state.old;
        yield { ...text('two'), actions: { stateDelta: { step: 2 } } };
        state.step = 3;
      },
    ).result;
    expect(await deltas()).toEqual([
      { asked: 1 },
      { step: 1, list: ['a'] },
      { list: ['a', 'b'], step: 2 },
      { step: 3 },
    ]);
    const session = await app.sessions.getSession(KEY);
    expect(session?.state.getAll()).toEqual({ asked: 1, step: 3, list: ['a', 'b'] });
  });

  it('is kept if the handler fails or is stopped', async () => {
    const run = app.agents.run({ ...KEY, newMessage: 'hi' }, async function* ({ state }) {
      state.step = 1;
      yield* [];
      throw new Error('no');
    });
    await expect(run.result).rejects.toMatchObject(failureBy({ message: 'no' }));
    expect(await deltas()).toEqual([{}, { step: 1 }]);
  });

  it('rides on the response of the tool that changed it', async () => {
    const seen: unknown[] = [];
    await app.agents.run({ ...KEY, newMessage: 'hi', state: { count: 1 } }, async function* (context) {
      const event = call('c1', 'add');
      yield event;
      const [first] = getFunctionCalls(event);
      const tool = context.tool(first ?? {});
      tool.state.count = tool.state.get('count', 0) + 1;
      tool.state['temp:found'] = 'x';
      tool.noteArtifact('chart.png', 0);
      tool.actions.transferToAgent = 'writer';
      seen.push(context.state.count, context.state['temp:found']);
      yield tool.respond(3);
      seen.push(context.state.count, context.state['temp:found']);
      yield text('done');
    }).result;
    expect(seen).toEqual([1, undefined, 2, 'x']);
    const [, , response] = await app.log();
    expect(response).toMatchObject({
      author: 'agent',
      content: { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'add', response: { result: 3 } } }] },
      actions: { stateDelta: { count: 2 }, artifactDelta: { 'chart.png': 0 }, transferToAgent: 'writer' },
    });
    expect(JSON.stringify(await app.log())).not.toContain('temp:');
  });

  it('comes together for tools that run side by side', async () => {
    const event: EventInput = {
      content: {
        role: 'model',
        parts: ['a', 'b', 'gone'].map((name) => ({ functionCall: { id: name, name, args: { by: 2 } } })),
      },
    };
    await app.agents.run({ ...KEY, newMessage: 'hi' }, async function* (context) {
      yield event;
      yield await context.callTools({
        async a({ by }, { state }) {
          await Promise.resolve();
          state.a = by;
          state.last = 'a';
          return { by };
        },
        b(_args, { state, functionCallId }) {
          state.last = functionCallId;
        },
      });
      yield text(String(context.state.last));
    }).result;
    const [, , responses] = await app.log();
    expect(responses?.actions.stateDelta).toEqual({ a: 2, last: 'b' });
    expect(responses?.content?.parts?.map(({ functionResponse }) => functionResponse)).toEqual([
      { id: 'a', name: 'a', response: { by: 2 } },
      { id: 'b', name: 'b', response: { result: null } },
      { id: 'gone', name: 'gone', response: { error: 'There is no tool "gone".' } },
    ]);
    expect((await app.logInShort()).at(-1)).toBe('agent b');
    expect(app.errors.splice(0)).toMatchObject([{ name: 'ToolError', tool: 'gone' }]);
  });

  it('reaches each of several calls without id', async () => {
    const calls = ['Rome', 'Oslo', 'Rome'].map((city) => ({ functionCall: { name: 'weather', args: { city } } }));
    const asked: EventInput = { content: { role: 'model', parts: calls } };
    await app.agents.run({ ...KEY, newMessage: 'hi' }, async function* (context) {
      yield asked;
      yield await context.callTools({ weather: ({ city }) => ({ city }) });
      yield asked;
      for (const each of getFunctionCalls(asked)) yield context.tool(each).respond({ by: each.args?.city });
      yield asked;
      yield { content: { parts: [{ functionResponse: { name: 'weather', response: { said: 'Rome' } } }] } };
      yield text('done');
    }).result;
    const parts = (await app.log()).flatMap(({ content }) => content?.parts ?? []);
    const ids = parts.flatMap(({ functionCall }) => functionCall?.id ?? []);
    const responses = new Map(
      parts.flatMap(({ functionResponse: given }) => (given ? [[given.id, given.response]] : [])),
    );
    const error = 'The agent ended without a response of this tool.';
    expect(ids.map((id) => responses.get(id))).toEqual([
      { city: 'Rome' },
      { city: 'Oslo' },
      { city: 'Rome' },
      { by: 'Rome' },
      { by: 'Oslo' },
      { by: 'Rome' },
      { said: 'Rome' },
      { error },
      { error },
    ]);
    expect(new Set(ids).size).toBe(9);
    expect(ids.every((id) => id.startsWith('adk-'))).toBe(true);
    expect(JSON.stringify(toMessages(await app.log(), { format: 'google' }))).not.toContain('adk-');
  });

  it('reaches each of several calls of one message with the same id', async () => {
    const parts = ['Rome', 'Oslo', 'Rome'].map((city) => ({
      functionCall: { id: 'c1', name: 'weather', args: { city } },
    }));
    const byHand: RunHandler = async function* () {
      yield { content: { role: 'model', parts } };
      for (const { functionCall } of parts) {
        const functionResponse = { id: 'c1', name: 'weather', response: { city: functionCall.args.city } };
        yield { content: { role: 'user', parts: [{ functionResponse }] } };
      }
      yield text('done');
    };
    const byContext: RunHandler = async function* (context) {
      const asked: EventInput = { content: { role: 'model', parts } };
      yield asked;
      for (const each of getFunctionCalls(asked)) yield context.tool(each).respond({ city: each.args?.city });
      yield text('done');
    };
    const together: RunHandler = async function* (context) {
      yield { content: { role: 'model', parts } };
      yield await context.callTools({ weather: ({ city }) => ({ city }) });
      yield text('done');
    };
    for (const [index, handler] of [byHand, byContext, together].entries()) {
      const sessionId = `s-${index}`;
      const { session, events } = await app.agents.run({ ...KEY, sessionId, newMessage: 'hi' }, handler).result;
      expect(inShort(events)[0]).toBe('agent ?c1 ?c1#2 ?c1#3');
      const results = toMessages(session, { format: 'openai' }).filter(({ role }) => role === 'tool');
      expect(results.map(({ content }) => content)).toEqual(
        ['Rome', 'Oslo', 'Rome'].map((city) => JSON.stringify({ city })),
      );
    }
  });

  it.each(['fails', 'is stopped'])('is stored if a tool beside it %s', async (end) => {
    const run = app.agents.run({ ...KEY, newMessage: 'hi' }, async function* (context) {
      yield { content: { role: 'model', parts: ['a', 'b'].map((id) => ({ functionCall: { id, name: id } })) } };
      yield await context.callTools(
        {
          a(_args, { state }) {
            state.paid = 5;
            return { paid: 5 };
          },
          async b() {
            if (end === 'fails') throw new Error('no');
            void app.agents.stop(KEY);
            await new Promise(() => undefined);
          },
        },
        { onError: 'fail' },
      );
    });
    await run.result.catch(() => undefined);
    const log = (await app.log()).filter(({ author }) => author !== 'system');
    expect(inShort(log).slice(2)).toEqual([
      'agent !a',
      'agent !b',
      `agent - ${end === 'fails' ? 'FAILED' : 'STOPPED'}`,
    ]);
    expect(log[2]).toMatchObject({
      content: { parts: [{ functionResponse: { response: { paid: 5 } } }] },
      actions: { stateDelta: { paid: 5 } },
    });
    expect((await app.sessions.getSession(KEY))?.state.getAll()).toEqual({ paid: 5 });
  });

  it('is not kept if the store refuses it when a tool fails', async () => {
    const result: Record<string, unknown> = {};
    const run = app.agents.run({ ...KEY, newMessage: 'hi' }, async function* (context) {
      yield { content: { role: 'model', parts: ['a', 'b'].map((id) => ({ functionCall: { id, name: id } })) } };
      yield await context.callTools(
        {
          a: () => result,
          async b() {
            await setImmediate();
            result.late = 1n;
            throw new Error('no');
          },
        },
        { onError: 'fail' },
      );
    });
    await expect(run.result).rejects.toMatchObject(failureBy({ message: 'no' }));
    expect((await app.logInShort()).slice(2)).toEqual(['agent !a !b', 'agent - FAILED']);
  });

  it('is joined, of state and of actions, for tools that run side by side', async () => {
    await app.agents.run({ ...KEY, newMessage: 'hi' }, async function* (context) {
      context.state['temp:step'] = 1;
      yield { content: { role: 'model', parts: ['a', 'b'].map((id) => ({ functionCall: { id, name: id } })) } };
      yield await context.callTools({
        a(_args, { actions, state }) {
          actions.stateDelta = { a: 1, both: 'a' };
          actions.requestedAuthConfigs = { a: {} };
          state['temp:step'] = 2;
        },
        b(_args, { actions, state }) {
          actions.stateDelta = { b: 1, both: 'b' };
          actions.requestedAuthConfigs = { b: {} };
          state.c = 1;
        },
      });
      yield text(String(context.state['temp:step']));
    }).result;
    const [, , responses, last] = await app.log();
    expect(responses?.actions).toMatchObject({
      stateDelta: { a: 1, b: 1, both: 'b', c: 1 },
      requestedAuthConfigs: { a: {}, b: {} },
    });
    expect(inShort(last ? [last] : [])).toEqual(['agent 2']);
  });

  it('notes artifacts of any name with the response', async () => {
    await app.agents.run({ ...KEY, newMessage: 'hi' }, async function* (context) {
      yield call('__proto__', 'draw');
      yield call('b.png', 'draw');
      yield await context.callTools({ draw: (_args, tool) => tool.noteArtifact(tool.functionCallId ?? '', 3) });
    }).result;
    const { artifactDelta } = (await app.log())[3]?.actions ?? {};
    expect(Object.entries(artifactDelta ?? {})).toEqual([
      ['__proto__', 3],
      ['b.png', 3],
    ]);
  });

  it('is seen by the other agents of the invocation', async () => {
    const request = { ...KEY, newMessage: 'hi', agentName: 'root', outputKey: 'answer' };
    const { session } = await app.agents.run(request, async function* (context) {
      yield { actions: { transferToAgent: 'writer' } };
      yield* writer(context);
      yield* critic(context);
      yield text('all done');
    }).result;
    expect(inShort(await app.log())).toEqual(['user hi', 'root', 'writer a draft', 'critic 1 warm', 'root all done']);
    expect((await app.log()).map(({ branch }) => branch)).toEqual([
      undefined,
      undefined,
      'root.writer',
      'root.critic',
      undefined,
    ]);
    expect(session.state.getAll()).toEqual({ draft: 1, answer: 'all done', 'temp:tone': 'warm' });
    expect((await app.sessions.getSession(KEY))?.state.getAll()).toEqual({ draft: 1, answer: 'all done' });
  });
});

async function* writer(context: AgentContext): AsyncGenerator<EventInput, void> {
  context.state['temp:tone'] = 'warm';
  yield { ...text('a draft'), author: 'writer', branch: 'root.writer', actions: { stateDelta: { draft: 1 } } };
}

async function* critic({ state }: AgentContext): AsyncGenerator<EventInput, void> {
  const { draft, 'temp:tone': tone } = state.getAll();
  yield { ...text(`${String(draft)} ${String(tone)}`), author: 'critic', branch: 'root.critic' };
}
