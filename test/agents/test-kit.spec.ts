import type { RunHandler } from '../../src/agents/index.js';
import {
  AgentScenario,
  ManualClock,
  ScriptedModel,
  replaySession,
  saidEvents,
  waitForEvent,
} from '../../src/testing/index.js';

/** An agent with a tool, over any model. */
function agentOf(model: ScriptedModel, greeting = ''): RunHandler {
  return async function* (context) {
    yield model.ask(context.history, { signal: context.signal });
    while (context.openCalls.length > 0) {
      yield await context.callTools({
        weather({ city }, tool) {
          tool.state.set('city', city);
          return { sky: 'blue' };
        },
        async refund(_, tool) {
          const { confirmed } = await tool.requestApproval({ hint: 'Refund?' });
          return { confirmed };
        },
      });
      const answer = model.ask(context.history);
      const [part] = answer.content?.parts ?? [];
      yield part?.text === undefined
        ? answer
        : { content: { role: 'model', parts: [{ text: `${greeting}${part.text}` }] } };
    }
  };
}

const WEATHER = [{ calls: [{ name: 'weather', args: { city: 'Oslo' } }] }, 'It is sunny.'];

/** A handler begins again when its approval is answered, so this one does not ask a model first. */
const refundAgent: RunHandler = async function* (context) {
  yield await context.callTools({ refund: async (_, tool) => tool.requestApproval({ hint: 'Refund?' }) });
  yield { content: { role: 'model', parts: [{ text: 'Done.' }] } };
};

const greetingAgent: RunHandler = async function* () {
  yield { content: { role: 'model', parts: [{ text: 'Hey!' }] }, actions: { stateDelta: { met: true } } };
};

const scenarios: AgentScenario[] = [];
async function given(...options: Parameters<typeof AgentScenario.given>): Promise<AgentScenario> {
  const scenario = await AgentScenario.given(...options);
  scenarios.push(scenario);
  return scenario;
}
afterEach(async () => {
  for (const scenario of scenarios.splice(0)) await scenario.close();
});

describe('A scenario', () => {
  it('says what a turn said and changed, without ids and times', async () => {
    const scenario = await given({
      state: { 'user:name': 'Ann', city: 'Rome' },
      events: [{ content: { parts: [{ text: 'Hi' }] } }],
    });
    const model = new ScriptedModel(WEATHER);
    const turn = await scenario.whenTurn('Weather?', agentOf(model), { agentName: 'support' });
    expect(turn).toEqual({
      status: 'completed',
      text: 'It is sunny.',
      events: [
        { author: 'support', calls: [{ name: 'weather', args: { city: 'Oslo' } }] },
        {
          author: 'support',
          responses: [{ name: 'weather', response: { sky: 'blue' } }],
          stateDelta: { city: 'Oslo' },
        },
        { author: 'support', text: 'It is sunny.' },
      ],
      state: { 'user:name': 'Ann', city: 'Oslo' },
      changes: [{ key: 'city', before: 'Rome', after: 'Oslo' }],
    });
    expect(model.left).toBe(0);
    expect(model.prompts).toHaveLength(2);
    expect((await scenario.events()).map(({ text }) => text)).toEqual([
      'Hi',
      'Weather?',
      undefined,
      undefined,
      'It is sunny.',
    ]);
  });

  it('goes on with an approval', async () => {
    const scenario = await given();
    const agent = agentOf(new ScriptedModel([{ calls: [{ name: 'refund', args: {} }] }, 'Done.']));
    await expect(scenario.whenApproved({ confirmed: true }, agent)).rejects.toThrow('waits for no approval');
    expect((await scenario.whenTurn('Refund', agent)).status).toBe('waiting');
    expect(await scenario.pendingApprovals()).toMatchObject([{ hint: 'Refund?' }]);
    const outcome = await scenario.whenApproved({ confirmed: true }, refundAgent);
    expect([outcome.status, outcome.text]).toEqual(['completed', 'Done.']);
    expect(await scenario.pendingApprovals()).toEqual([]);
  });

  it('has a clock that the test moves', async () => {
    const clock = new ManualClock();
    const scenario = await given({ clock });
    clock.advance(5_000);
    await scenario.whenTurn('Hello', async function* () {
      yield { content: { role: 'model', parts: [{ text: 'Hello' }] } };
    });
    const session = await scenario.sessions.getSession(scenario.key);
    expect(session?.events.map(({ timestamp }) => timestamp)).toEqual([clock.now(), clock.now()]);
  });

  it('rejects with what the agent throws', async () => {
    const scenario = await given();
    await expect(scenario.whenTurn('Hi', agentOf(new ScriptedModel([new Error('out of tokens')])))).rejects.toThrow(
      'out of tokens',
    );
  });
});

describe('A scripted model', () => {
  it('streams its text in pieces that are not stored', async () => {
    const scenario = await given();
    const model = new ScriptedModel(['It is sunny.']);
    const run = scenario.agents.run({ ...scenario.key, newMessage: 'Weather?' }, (context) =>
      model.stream(context.history),
    );
    const seen: (string | undefined)[] = [];
    for await (const event of run) if (event.partial === true) seen.push(event.content?.parts?.[0]?.text);
    expect(seen).toEqual(['It ', 'is ', 'sunny.']);
    expect(await scenario.events()).toEqual([
      { author: 'user', text: 'Weather?' },
      { author: 'agent', text: 'It is sunny.' },
    ]);
  });

  it('answers by what it is asked, and says when its script is over', () => {
    const model = new ScriptedModel<number>([(prompt) => `${prompt + 1}`]);
    expect(saidEvents([model.ask(41)])).toMatchObject([{ text: '42' }]);
    expect(() => model.ask(1)).toThrow('no answer to question 2');
    expect(() => new ScriptedModel(['x']).ask(1, { signal: AbortSignal.abort() })).toThrow('abort');
  });
});

describe('waitForEvent', () => {
  it('finds an event that is there, one that comes, or none', async () => {
    const { sessions, key } = await given({ events: [{ author: 'a' }] });
    expect((await waitForEvent(sessions, key, ({ author }) => author === 'a')).seq).toBe(1);
    const waiting = waitForEvent(sessions, key, ({ author }) => author === 'b');
    await sessions.appendEvent({ session: { ...key, id: key.sessionId }, event: { author: 'b' } });
    expect((await waiting).seq).toBe(2);
    const never = waitForEvent(sessions, key, () => false, { timeoutMs: 20 });
    await expect(never).rejects.toThrow('No event fitted within 20 ms; 2 came');
  });
});

describe('A replay', () => {
  it('shows what another prompt changes in events and state', async () => {
    const scenario = await given();
    await scenario.whenTurn('Weather?', agentOf(new ScriptedModel(WEATHER)));
    await scenario.whenTurn('Thanks', agentOf(new ScriptedModel(['Welcome.'])));
    const recorded = await scenario.sessions.getSession(scenario.key);
    if (!recorded) throw new Error('There is no session');

    const same = await replaySession(recorded, agentOf(new ScriptedModel([...WEATHER, 'Welcome.'])));
    expect([same.isSame, same.state, same.text]).toEqual([true, [], '  Weather?\n  Thanks']);

    const rome = { calls: [{ name: 'weather', args: { city: 'Rome' } }] };
    const other = await replaySession(
      recorded,
      agentOf(new ScriptedModel([rome, 'It is sunny.', 'Welcome.']), 'Well: '),
    );
    expect(other.turns.map(({ isSame }) => isSame)).toEqual([false, true]);
    expect(other.state).toEqual([{ key: 'city', before: 'Oslo', after: 'Rome' }]);
    expect(other.text.split('\n')).toEqual([
      '  Weather?',
      '- {"author":"agent","calls":[{"name":"weather","args":{"city":"Oslo"}}]}',
      '- {"author":"agent","responses":[{"name":"weather","response":{"sky":"blue"}}],"stateDelta":{"city":"Oslo"}}',
      '- {"author":"agent","text":"It is sunny."}',
      '+ {"author":"agent","calls":[{"name":"weather","args":{"city":"Rome"}}]}',
      '+ {"author":"agent","responses":[{"name":"weather","response":{"sky":"blue"}}],"stateDelta":{"city":"Rome"}}',
      '+ {"author":"agent","text":"Well: It is sunny."}',
      '  Thanks',
      '- state city: "Oslo"',
      '+ state city: "Rome"',
    ]);
  });

  it('reports a turn in which the agent fails, and goes on, as the agent of the recording', async () => {
    const scenario = await given();
    for (const [message, answer] of [
      ['One', 'First.'],
      ['Two', 'Second.'],
    ] as const) {
      await scenario.whenTurn(message, agentOf(new ScriptedModel([answer])), { agentName: 'support' });
    }
    const recorded = await scenario.sessions.getSession(scenario.key);
    if (!recorded) throw new Error('There is no session');
    const failure = new Error('out of tokens');
    const replay = await replaySession(recorded, agentOf(new ScriptedModel([failure, 'Second.'])));
    expect(replay.turns).toEqual([
      {
        message: 'One',
        recorded: [{ author: 'support', text: 'First.' }],
        replayed: [{ author: 'support', errorCode: 'FAILED' }],
        isSame: false,
        error: failure,
      },
      {
        message: 'Two',
        recorded: [{ author: 'support', text: 'Second.' }],
        replayed: [{ author: 'support', text: 'Second.' }],
        isSame: true,
      },
    ]);
    expect(replay.text).toContain('\n! Error: out of tokens\n  Two');
    const again = await replaySession(recorded, agentOf(new ScriptedModel(['First.', 'Second.'])));
    expect(again.isSame).toBe(true);
  });

  it('compares as it is told, and folds the state of plain events', async () => {
    const events = [
      { author: 'user', content: { parts: [{ text: 'Hi' }] } },
      { author: 'agent', content: { parts: [{ text: 'Hello!' }] }, actions: { stateDelta: { met: true } } },
    ];
    const strict = await replaySession({ events }, greetingAgent);
    expect([strict.isSame, strict.state]).toEqual([false, []]);
    const loose = await replaySession({ events }, greetingAgent, {
      isSame: (a, b) => a.text?.length !== b.text?.length,
    });
    expect(loose.isSame).toBe(true);
  });
});
