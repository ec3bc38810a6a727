import {
  AgentTool,
  type Context,
  FunctionTool,
  LlmAgent,
  LogLevel,
  LongRunningFunctionTool,
  ParallelAgent,
  SequentialAgent,
  StreamingMode,
  getFunctionCalls,
  isFinalResponse,
  setLogLevel,
} from '@google/adk';
import { z } from 'zod';
import { toMessages } from '../../../src/agents/index.js';
import { describeSuite } from '../support/describe-suite.js';
import { collected } from './support/collected.js';
import { KEY, RUN, USER, run, runnerOf, withServices } from './support/opened.js';
import { ScriptedLlm, calls, message, says } from './support/scripted-llm.js';

setLogLevel(LogLevel.ERROR);

const SUITE = { framework: 'Google ADK', peer: '@google/adk', suite: "scenarios of @google/adk's Runner" };

const find = new FunctionTool({
  name: 'find',
  description: 'Finds an order.',
  parameters: z.object({ id: z.number() }),
  execute: ({ id }, context?: Context) => {
    context?.state.set('lastOrder', id);
    context?.state.set('user:orders', [id]);
    context?.state.set('temp:draft', 'secret');
    return { id, status: 'sent', at: new Date(0) };
  },
});

const refund = (done: number[]) =>
  new FunctionTool({
    name: 'refund',
    description: 'Refunds an order.',
    parameters: z.object({ id: z.number() }),
    requireConfirmation: true,
    execute: ({ id }) => {
      done.push(id);
      return { refunded: id };
    },
  });

describeSuite(SUITE, (store) => {
  it('keeps a conversation with tools, state and usage, and continues it', () =>
    withServices(store, async (services) => {
      const model = new ScriptedLlm(
        {
          ...calls('find', { id: 7 }),
          usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
        },
        says('It was sent.'),
        says('You are welcome.'),
      );
      const agent = new LlmAgent({ name: 'support', model, tools: [find] });
      const runner = runnerOf(services, agent);
      await services.adk.createSession(KEY);
      const events = await run(runner, 'Where is order 7?');
      expect(events.map((event) => event.author)).toEqual(['support', 'support', 'support']);
      await run(runner, 'Thanks');

      // The model saw everything that was said before.
      expect(model.lastTexts).toEqual(['user: Where is order 7?', 'model: It was sent.', 'user: Thanks']);
      const session = await services.adk.getSession(KEY);
      expect(session?.events.map(({ author }) => author)).toEqual([
        'user',
        ...Array<string>(3).fill('support'),
        'user',
        'support',
      ]);
      expect(session?.events.every((event) => Symbol.for('google.adk.event') in event)).toBe(true);
      expect({ ...session?.state }).toEqual({ lastOrder: 7, 'user:orders': [7] });
      expect((await services.sessions.getUsage(KEY)).total.totalTokens).toBe(7);

      // Others read the same conversation.
      const read = await services.sessions.getSession(KEY);
      const [call] = getFunctionCalls(events[0] ?? fail('no event'));
      expect(toMessages(read?.events ?? [], { format: 'openai' })).toMatchObject([
        { role: 'user', content: 'Where is order 7?' },
        { role: 'assistant', tool_calls: [{ id: call?.id, function: { name: 'find', arguments: '{"id":7}' } }] },
        { role: 'tool', tool_call_id: call?.id, content: '{"id":7,"status":"sent","at":"1970-01-01T00:00:00.000Z"}' },
        { role: 'assistant', content: 'It was sent.' },
        { role: 'user', content: 'Thanks' },
        { role: 'assistant', content: 'You are welcome.' },
      ]);
      expect(JSON.stringify((await services.sessions.listEvents(KEY)).events)).not.toContain('secret');
    }));

  it('passes state from agent to agent: outputKey, templates, temp: keys, and the state of the request', () =>
    withServices(store, async (services) => {
      const writer = new LlmAgent({ name: 'writer', model: new ScriptedLlm(says('Roses are red')), outputKey: 'poem' });
      const drafter = new LlmAgent({
        name: 'drafter',
        model: new ScriptedLlm(says('violets')),
        outputKey: 'temp:next',
      });
      const reader = new ScriptedLlm(says('Nice.'));
      const instruction = 'Judge {poem} and {temp:next} in {user:language}{missing?}.';
      const critic = new LlmAgent({ name: 'critic', model: reader, instruction, outputKey: 'app:verdict' });
      const runner = runnerOf(services, new SequentialAgent({ name: 'team', subAgents: [writer, drafter, critic] }));
      await services.adk.createSession({ ...KEY, state: { 'user:language': 'German', 'temp:gone': 1 } });
      await run(runner, 'A poem', { stateDelta: { asked: true, 'temp:once': 2 } });
      expect(reader.instructions[0]).toContain('Judge Roses are red and violets in German.');
      expect({ ...(await services.adk.getSession(KEY))?.state }).toEqual({
        asked: true,
        poem: 'Roses are red',
        'user:language': 'German',
        'app:verdict': 'Nice.',
      });
      // Shared state is there for a new session.
      const other = await services.adk.createSession({ ...USER, sessionId: 'chat-2' });
      expect({ ...other.state }).toEqual({ 'user:language': 'German', 'app:verdict': 'Nice.' });
    }));

  it('waits for confirmations of tools, in another process, and runs the tool once', () =>
    withServices(store, async (services) => {
      const done: number[] = [];
      const model = new ScriptedLlm(
        calls('refund', { id: 7 }),
        says('Please confirm.'),
        says('Done.'),
        says('Anything else?'),
      );
      const agent = new LlmAgent({ name: 'support', model, tools: [refund(done)] });
      await services.adk.createSession(KEY);
      const events = await run(runnerOf(services, agent), 'Refund order 7');
      const asked = events.flatMap(getFunctionCalls).find(({ name }) => name === 'adk_request_confirmation');
      expect(done).toEqual([]);
      expect(asked?.args).toMatchObject({
        originalFunctionCall: { name: 'refund' },
        toolConfirmation: { confirmed: false },
      });

      const answer = { id: asked?.id, name: 'adk_request_confirmation', response: { confirmed: true } };
      const confirmed = { role: 'user', parts: [{ functionResponse: answer }] };
      // A runner that has seen nothing.
      const resumed = await run(runnerOf(services, agent), confirmed);
      expect(done).toEqual([7]);
      expect(resumed.flatMap(({ content }) => content?.parts ?? [])).toMatchObject([
        { functionResponse: { name: 'refund', response: { refunded: 7 } } },
        { text: expect.any(String) as string },
      ]);
      await run(runnerOf(services, agent), 'Thanks');
      expect(done).toEqual([7]);
      const session = await services.adk.getSession(KEY);
      const requested = session?.events.find(
        ({ actions }) => Object.keys(actions.requestedToolConfirmations).length > 0,
      );
      expect(Object.values(requested?.actions.requestedToolConfirmations ?? {})).toEqual([
        expect.objectContaining({ confirmed: false }),
      ]);
    }));

  it('stores no partial events, and long-running tools report later', () =>
    withServices(store, async (services) => {
      const model = new ScriptedLlm(
        [{ ...says('Let '), partial: true }, { ...says('Let me see.'), partial: true }, calls('order', {}, 'c1')],
        says('It takes a while.'),
        says('It has arrived.'),
      );
      const order = new LongRunningFunctionTool({
        name: 'order',
        description: 'Orders.',
        execute: () => ({ status: 'pending' }),
      });
      const agent = new LlmAgent({ name: 'support', model, tools: [order] });
      await services.adk.createSession(KEY);
      const runner = runnerOf(services, agent);
      const events = await run(runner, 'Order one', { runConfig: { streamingMode: StreamingMode.SSE } });
      expect(events.filter(({ partial }) => partial)).toHaveLength(2);
      const called = events.find(({ longRunningToolIds }) => longRunningToolIds?.includes('c1'));
      expect(called && isFinalResponse(called)).toBe(true);
      const stored = await services.adk.getSession(KEY);
      expect(stored?.events.filter(({ partial }) => partial)).toEqual([]);
      expect(stored?.events.find(({ longRunningToolIds }) => longRunningToolIds?.length)?.longRunningToolIds).toEqual([
        'c1',
      ]);
      const later = { functionResponse: { id: 'c1', name: 'order', response: { status: 'here' } } };
      await run(runner, { role: 'user', parts: [later] });
      expect(JSON.stringify(model.asked.at(-1))).toContain('here');
    }));

  it('keeps parallel agents apart, and agents inside tools', () =>
    withServices(store, async (services) => {
      const [left, right] = ['left', 'right'].map(
        (name) => new LlmAgent({ name, model: new ScriptedLlm(says(`${name} says`)), outputKey: `user:${name}` }),
      );
      const translator = new LlmAgent({
        name: 'translator',
        description: 'Translates.',
        model: new ScriptedLlm(says('Hallo')),
        outputKey: 'user:translated',
      });
      const model = new ScriptedLlm(calls('translator', { request: 'Hello' }), says('Hallo!'));
      const asking = new LlmAgent({ name: 'asking', model, tools: [new AgentTool({ agent: translator })] });
      const both = new ParallelAgent({ name: 'both', subAgents: [left ?? asking, right ?? asking] });
      const runner = runnerOf(services, new SequentialAgent({ name: 'all', subAgents: [both, asking] }));
      await services.adk.createSession(KEY);
      await run(runner, 'Go');
      const session = await services.adk.getSession(KEY);
      expect(
        session?.events
          .slice(1, 3)
          .map(({ branch }) => branch)
          .toSorted(),
      ).toEqual(['both.left', 'both.right']);
      expect({ ...session?.state }).toEqual({
        'user:left': 'left says',
        'user:right': 'right says',
        'user:translated': 'Hallo',
      });
      // The agent inside the tool has a session of its own.
      const inner = await services.adk.listSessions({ appName: 'translator' });
      expect(inner.sessions.map(({ id }) => id)).toEqual([KEY.sessionId]);
    }));

  it('removes the session of an ephemeral run, and refuses one that is missing', () =>
    withServices(store, async (services) => {
      const agent = new LlmAgent({
        name: 'support',
        model: new ScriptedLlm(says('Hello!')),
        outputKey: 'user:greeting',
      });
      const runner = runnerOf(services, agent);
      const events = await collected(runner.runEphemeral({ userId: USER.userId, newMessage: message('Hi') }));
      expect(events.map(({ content }) => content?.parts?.[0]?.text)).toEqual(['Hello!']);
      expect((await services.adk.listSessions(USER)).totalItems).toBe(0);
      expect(await services.sessions.getUserState(USER)).toEqual({ greeting: 'Hello!' });
      await expect(run(runner, 'Hi')).rejects.toThrow('Session not found: chat-1');
    }));

  it('continues after a rewind without what was taken back, and with a summary', () =>
    withServices(store, async (services) => {
      const model = new ScriptedLlm(...['One.', 'Two.', 'Three.', 'Four.'].map(says));
      const agent = new LlmAgent({ name: 'support', model, outputKey: 'last' });
      const runner = runnerOf(services, agent);
      await services.adk.createSession(KEY);
      await run(runner, 'first');
      const [wrong] = await run(runner, 'second');
      await services.sessions.rewindSession({ ...KEY, invocationId: wrong?.invocationId ?? '' });
      expect((await services.adk.getSession(KEY))?.state.last).toBe('One.');
      await run(runner, 'third');
      expect(model.lastTexts).toEqual(['user: first', 'model: One.', 'user: third']);

      const summary = {
        author: 'system',
        content: { role: 'user', parts: [{ text: 'They counted.' }] },
        actions: { compaction: { fromSeq: 1, toSeq: 5 } },
      };
      await services.sessions.appendEvent({ session: { ...USER, id: KEY.sessionId }, event: summary });
      await run(runner, 'fourth');
      expect(model.lastTexts.join('\n')).toContain('They counted.');
      expect(model.lastTexts.join('\n')).not.toContain('first');
      expect((await services.sessions.listEvents(KEY)).events.filter(({ author }) => author === 'user')).toHaveLength(
        4,
      );
    }));

  it('lets one run follow the other in turns, and stores nothing of a run that lost its turn', () =>
    withServices(store, async (services) => {
      const model = new ScriptedLlm(...['One.', 'Two.', 'Three.'].map(says), async () => {
        const held = await services.sessions.getTurn(KEY);
        await services.storage.turn({ action: 'end', key: KEY, token: tokens.at(-1) ?? '' });
        expect(held).toBeDefined();
        await services.sessions.beginTurn({ ...KEY, holder: 'other' });
        return says('Too late.');
      });
      const tokens: string[] = [];
      const noting = services.storage.turn.bind(services.storage);
      services.storage.turn = (request) => {
        if (request.action === 'begin') tokens.push(request.token);
        return noting(request);
      };
      const runner = runnerOf(services, new LlmAgent({ name: 'support', model }));
      await services.adk.createSession(KEY);
      const answers = await Promise.all(
        ['first', 'second', 'third'].map(async (text) =>
          collected(services.adk.runInTurn(runner, { ...RUN, newMessage: message(text), waitMs: 60_000 })),
        ),
      );
      expect(answers.flat()).toHaveLength(3);
      const said = (await services.adk.getSession(KEY))?.events.map(({ author }) => author);
      expect(said).toEqual(['user', 'support', 'user', 'support', 'user', 'support']);

      const late = collected(services.adk.runInTurn(runner, { ...RUN, newMessage: message('fourth') }));
      await expect(late).rejects.toMatchObject({ code: 'TURN_LOST' });
      const texts = JSON.stringify((await services.adk.getSession(KEY))?.events);
      expect(texts).toContain('fourth');
      expect(texts).not.toContain('Too late.');
      const refused = collected(services.adk.runInTurn(runner, { ...RUN, newMessage: message('fifth') }));
      await expect(refused).rejects.toMatchObject({ code: 'TURN_HELD' });
    }));
});

function fail(text: string): never {
  throw new Error(text);
}
