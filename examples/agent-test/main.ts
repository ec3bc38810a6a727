// A test of an agent without a model: given a session, when a turn runs, then events and state. Works in every test runner.
import assert from 'node:assert/strict';
import { type RunHandler, type ToolContext, agentLoop } from 'nestjs-agent-sessions/agents';
import { AgentScenario, ScriptedModel, replaySession } from 'nestjs-agent-sessions/testing';

function find_order({ id }: { id: string }, tool: ToolContext) {
  tool.state.set('user:lastOrder', id);
  return { status: 'on its way' };
}

/** The agent, over a model that the app or a test gives it. */
const agentWith = (model: ScriptedModel): RunHandler =>
  agentLoop({ model: ({ history }) => model.ask(history), tools: { find_order } });

const call = { calls: [{ name: 'find_order', args: { id: '4711' } }] };

const scenario = await AgentScenario.given({ state: { 'user:name': 'Ann' } });
const model = new ScriptedModel([call, 'It is on its way.']);
const turn = await scenario.whenTurn('Where is order 4711?', agentWith(model));
assert.equal(turn.text, 'It is on its way.');
assert.equal(model.left, 0);
console.log('the turn changed:', turn.changes);

// The recorded session again, with a model that answers in another way.
const recorded = await scenario.sessions.getSession(scenario.key);
assert.ok(recorded);
const replay = await replaySession(recorded, agentWith(new ScriptedModel([call, 'Tomorrow!'])), {
  initialState: { 'user:name': 'Ann' },
});
console.log(replay.text);
await scenario.close();
