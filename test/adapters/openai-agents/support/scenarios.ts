import {
  Agent,
  type AgentInputItem,
  InputGuardrailTripwireTriggered,
  MaxTurnsExceededError,
  OutputGuardrailTripwireTriggered,
  RunState,
  Runner,
  type Session,
  Usage,
  tool,
} from '@openai/agents-core';
import { ScriptedModel, assistantMessage, functionCall, modelError, modelResponse } from '@openai/agents-core/testing';
import { z } from 'zod';

/** What happens in a scenario, besides the items of its session. */
export type Story = unknown[];

/** Runs of the SDK with a session. They do the same with every session that does what the SDK expects. */
export type Scenario = (session: Session, story: Story) => Promise<void>;

const runner = new Runner({ tracingDisabled: true });

type Output = ConstructorParameters<typeof ScriptedModel>[0] extends Iterable<infer Step> | undefined ? Step : never;

function says(text: string): Output {
  return modelResponse({ output: [assistantMessage(text)], usage: usage() });
}

function calls(name: string, args: Record<string, unknown>, callId: string): Output {
  return modelResponse({ output: [functionCall(name, args, { callId })], usage: usage() });
}

function usage(): Usage {
  return new Usage({ requests: 1, inputTokens: 10, outputTokens: 5, totalTokens: 15 });
}

const lookup = tool({
  name: 'lookup',
  description: 'Finds an order.',
  parameters: z.object({ id: z.number() }),
  execute: async ({ id }) => ({ id, state: 'sent' }),
});

const cancel = tool({
  name: 'cancel',
  description: 'Cancels an order.',
  parameters: z.object({ id: z.number() }),
  needsApproval: true,
  execute: async ({ id }) => `cancelled ${id}`,
});

/** The inputs of a model, to compare what runs sent. */
function sent(model: ScriptedModel): unknown[] {
  return model.calls.map(({ request: { input } }) => input);
}

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

export const scenarios: Readonly<Record<string, Scenario>> = {
  async 'turns with a tool'(session, story) {
    const model = new ScriptedModel([says('Hello!'), calls('lookup', { id: 1 }, 'c1'), says('It is sent.')]);
    const agent = new Agent({ name: 'support', model, tools: [lookup] });
    await runner.run(agent, 'Hi', { session });
    const input: AgentInputItem[] = [{ role: 'user', content: [{ type: 'input_text', text: 'Where is order 1?' }] }];
    const second = await runner.run(agent, input, {
      session,
      sessionInputCallback: (history, added) => [...history.slice(-2), ...added],
    });
    story.push(second.finalOutput, ...sent(model));
  },

  async streams(session, story) {
    const model = new ScriptedModel([calls('lookup', { id: 2 }, 'c2'), says('Here it is.')]);
    const agent = new Agent({ name: 'support', model, tools: [lookup] });
    const result = await runner.run(agent, 'Look', { session, stream: true });
    for await (const event of result) story.push(event.type);
    await result.completed;
    story.push(result.finalOutput, ...sent(model));
  },

  async 'a handoff'(session, story) {
    const model = new ScriptedModel([calls('transfer_to_billing', {}, 'h1'), says('Billing here.')]);
    const billing = new Agent({ name: 'billing', model });
    const agent = Agent.create({ name: 'support', model, handoffs: [billing] });
    const result = await runner.run(agent, 'An invoice, please', { session });
    const again = new ScriptedModel([says('Again.')]);
    await runner.run(new Agent({ name: 'support', model: again }), 'Thanks', { session });
    story.push(result.lastAgent?.name, ...sent(model), ...sent(again));
  },

  async 'approvals, with the state of the run as text'(session, story) {
    const model = new ScriptedModel([calls('cancel', { id: 3 }, 'c3'), says('Done.')]);
    const agent = new Agent({ name: 'support', model, tools: [cancel] });
    const first = await runner.run(agent, 'Cancel order 3', { session });
    story.push(first.interruptions.length, await session.getItems());
    const state = await RunState.fromString(agent, first.state.toString());
    const [interruption] = state.getInterruptions();
    if (interruption) state.approve(interruption);
    const second = await runner.run(agent, state, { session });
    story.push(second.finalOutput, ...sent(model));
  },

  async 'a rejection'(session, story) {
    const model = new ScriptedModel([calls('cancel', { id: 4 }, 'c4'), says('I did not.')]);
    const agent = new Agent({ name: 'support', model, tools: [cancel] });
    const first = await runner.run(agent, 'Cancel order 4', { session, stream: true });
    await first.completed;
    const [interruption] = first.interruptions;
    if (interruption) first.state.reject(interruption);
    const second = await runner.run(agent, first.state, { session, stream: true });
    await second.completed;
    story.push(second.finalOutput, ...sent(model));
  },

  async 'input that a guardrail stops'(session, story) {
    const model = new ScriptedModel([says('Never said.'), says('Said.')]);
    const blocking = {
      name: 'no',
      runInParallel: false,
      execute: async () => ({ outputInfo: 1, tripwireTriggered: true }),
    };
    const agent = new Agent({ name: 'support', model, inputGuardrails: [blocking] });
    const error = await failure(runner.run(agent, 'Bad words', { session }));
    story.push(error instanceof InputGuardrailTripwireTriggered, await session.getItems());
    await runner.run(new Agent({ name: 'support', model }), 'Good words', { session });
  },

  async 'output that a guardrail withholds'(session, story) {
    let blocks = 1;
    const guardrail = {
      name: 'once',
      execute: async () => ({ outputInfo: undefined, tripwireTriggered: blocks-- > 0 }),
    };
    const model = new ScriptedModel([calls('lookup', { id: 5 }, 'c5'), says('I may not say.')]);
    const options = { toolUseBehavior: 'stop_on_first_tool' as const, outputGuardrails: [guardrail] };
    const agent = new Agent({ name: 'support', model, tools: [lookup], ...options });
    const error = await failure(runner.run(agent, 'Tell me', { session }));
    story.push(error instanceof OutputGuardrailTripwireTriggered, await session.getItems());
    if (!(error instanceof OutputGuardrailTripwireTriggered) || !error.state) return;
    // The SDK refuses to go on with what was withheld; a new run works.
    story.push(String(await failure(runner.run(agent, error.state as RunState<unknown, typeof agent>, { session }))));
    await runner.run(agent, 'Then say something else', { session });
    story.push(...sent(model));
  },

  async 'failures of the model, and too many turns'(session, story) {
    const model = new ScriptedModel([
      modelError(new Error('overloaded')),
      calls('lookup', { id: 6 }, 'c6'),
      says('Well.'),
    ]);
    const agent = new Agent({ name: 'support', model, tools: [lookup] });
    story.push(String(await failure(runner.run(agent, 'First', { session }))), await session.getItems());
    const stopped = await failure(runner.run(agent, 'Second', { session, maxTurns: 1 }));
    story.push(stopped instanceof MaxTurnsExceededError, await session.getItems());
    await runner.run(agent, 'Third', { session });
    story.push(...sent(model));
  },

  async 'reasoning, hosted tools and files'(session, story) {
    const model = new ScriptedModel([
      modelResponse({
        usage: usage(),
        output: [
          { type: 'reasoning', id: 'rs_1', content: [{ type: 'input_text', text: 'Let me think.' }] },
          {
            type: 'hosted_tool_call',
            id: 'ws_1',
            name: 'web_search_call',
            status: 'completed',
            providerData: { n: 1 },
          },
          assistantMessage('A cat.', { id: 'msg_1', providerData: { annotations: [] } }),
        ],
      }),
      says('Still a cat.'),
    ]);
    const agent = new Agent({ name: 'support', model });
    const image = { type: 'input_image' as const, image: 'data:image/png;base64,AAAA', detail: 'high' };
    await runner.run(agent, [{ role: 'user', content: [{ type: 'input_text', text: 'What is it?' }, image] }], {
      session,
    });
    await runner.run(agent, 'Really?', { session, reasoningItemIdPolicy: 'omit' });
    story.push(...sent(model));
  },

  async 'a compaction by the model'(session, story) {
    const model = new ScriptedModel([
      says('One.'),
      modelResponse({
        usage: usage(),
        output: [{ type: 'compaction', encrypted_content: 'gist', id: 'cmp_1' }, assistantMessage('Two.')],
      }),
      says('Three.'),
    ]);
    const agent = new Agent({ name: 'support', model });
    for (const text of ['1', '2', '3']) await runner.run(agent, text, { session });
    story.push(...sent(model));
  },
};
