import { AgentSessions, type RunHandler, agentLoop } from '../../src/agents/index.js';
import { type EventInput, SessionService } from '../../src/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { firstStore } from '../support/stores.js';
import { KEY } from './support/agent-app.js';
import { inShort, text } from './support/handlers.js';

const usageMetadata = { totalTokenCount: 110 };
const OVER = { code: 'BUDGET_EXCEEDED', status: 429, budget: { scope: 'session', used: 110, limit: 100 } };

/** How often the model was asked. */
let questions = 0;
/** How often the tool ran. */
let looks = 0;

/** Calls its tool as often as it may. */
const looping = agentLoop({
  model: (): EventInput => {
    questions += 1;
    const call = { functionCall: { id: `c${questions}`, name: 'look', args: {} } };
    return { content: { role: 'model', parts: [call] }, usageMetadata };
  },
  tools: { look: () => (looks += 1) },
  maxSteps: 20,
});

/** Says what it thinks, as often as it may. */
const talking: RunHandler = async function* () {
  for (questions = 1; questions <= 20; questions++) yield { ...text('more'), usageMetadata };
};

const answering: RunHandler = async function* (context) {
  yield { ...text('whole'), usageMetadata };
  context.state.done = true;
  yield { actions: { stateDelta: { noted: true } } };
};

describe.each(firstStore)('a run with a budget, on $name', ({ open }) => {
  let opened: OpenStorage;
  let sessions: SessionService;
  let agents: AgentSessions;

  beforeEach(async () => {
    questions = looks = 0;
    opened = await open({});
    const usage = { budgets: [{ scope: 'session', maxTokens: 100 } as const] };
    sessions = new SessionService({ storage: opened.storage, usage });
    agents = new AgentSessions({ sessions });
    await sessions.createSession(KEY);
  });

  afterEach(async () => {
    await agents.close();
    await sessions.finish();
    await opened.destroy();
  });

  const run = (handler: RunHandler, invocationId = 'i-1') =>
    agents.run({ ...KEY, newMessage: 'hi', invocationId, agentName: 'agent' }, handler).result;
  const log = async () => inShort((await sessions.listEvents(KEY)).events);

  it('stops before the next question when it is used up, with a clean log', async () => {
    await expect(run(looping)).rejects.toMatchObject(OVER);
    expect([questions, looks]).toEqual([1, 0]);
    expect(await log()).toEqual(['user hi', 'agent ?c1', 'agent !c1', 'agent - FAILED']);
    expect((await sessions.getUsage(KEY)).total.totalTokens).toBe(110);
    await expect(run(looping)).rejects.toMatchObject({ code: 'AGENT_FAILED', reason: 'RATE_LIMITED' });
    await expect(run(looping, 'i-2')).rejects.toMatchObject(OVER);
    expect(await log()).toHaveLength(4);
  });

  it('stops it also if only partial events say what was used', async () => {
    const streaming: RunHandler = async function* (context) {
      for (questions = 1; questions <= 20; questions++) {
        yield { ...text('I look'), usageMetadata, partial: true };
        yield {
          content: { role: 'model', parts: [{ functionCall: { id: `c${questions}`, name: 'look', args: {} } }] },
        };
        yield await context.callTools({ look: () => (looks += 1) });
      }
    };
    await expect(run(streaming)).rejects.toMatchObject(OVER);
    expect([questions, looks]).toEqual([1, 0]);
  });

  it('stops a handler that goes on after its answer', async () => {
    await expect(run(talking)).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED', budget: { used: 220 } });
    expect(questions).toBe(2);
  });

  it('ends well if the answer that uses it up is the last one', async () => {
    expect(await run(answering)).toMatchObject({ status: 'completed' });
    expect(await log()).toEqual(['user hi', 'agent whole', 'agent']);
  });
});
