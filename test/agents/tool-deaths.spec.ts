import { type RunHandler, type ToolContext, agentLoop } from '../../src/agents/index.js';
import { ScriptedModel } from '../../src/testing/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { storeOfEachKind } from '../support/stores.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { mortalStorage } from './support/mortal-storage.js';

const REQUEST = { ...KEY, newMessage: 'Refund order 7', invocationId: 'i-1' };
const CALL = { calls: [{ name: 'refund', args: { order: '7' } }] };
const INTERRUPTED = 'The tool was interrupted.';

type Tool = (args: never, tool: ToolContext) => Promise<unknown>;

/** An agent with one tool, of which the model answers as given. */
function loop(refund: Tool, ...answers: ConstructorParameters<typeof ScriptedModel>[0]): RunHandler {
  const model = new ScriptedModel(answers);
  return agentLoop({ model: ({ history }) => model.ask(history), tools: { refund } });
}

const withApproval =
  (work: () => Promise<unknown>): Tool =>
  async (_args, tool) => {
    await tool.requestApproval({ hint: 'Refund?' });
    return work();
  };

describe.each(storeOfEachKind)('A tool of which the process dies, on $name,', (store) => {
  const clock = { time: Date.now(), now: () => clock.time };
  let opened: OpenStorage;
  let living: AgentApp;
  /** How often the tool began. */
  let begun: number;
  let hasBegun: Promise<void>;
  let tellBegun: () => void;

  beforeEach(async () => {
    opened = await store.open({ clock });
    living = new AgentApp(opened.storage);
    begun = 0;
    hasBegun = new Promise((resolve) => (tellBegun = resolve));
  });
  afterEach(async () => {
    await living.close();
    await opened.destroy();
  });

  /** It never ends in the process that dies. */
  async function refund(): Promise<unknown> {
    begun++;
    tellBegun();
    return new Promise(() => undefined);
  }

  async function dyingIn(work: (app: AgentApp) => Promise<unknown>): Promise<void> {
    const mortal = mortalStorage(opened.storage);
    work(new AgentApp(mortal.storage)).catch(() => undefined);
    await hasBegun;
    mortal.kill();
    clock.time += 60_000;
  }

  async function responses(): Promise<unknown[]> {
    return (await living.log()).flatMap(({ content }) =>
      (content?.parts ?? []).flatMap(({ functionResponse }) =>
        functionResponse?.name === 'refund' ? [functionResponse.response] : [],
      ),
    );
  }

  it('is not called again: the model reads that it has no answer', async () => {
    await dyingIn((app) => app.agents.run(REQUEST, loop(refund, CALL)).result);
    const again = await living.agents.run(REQUEST, loop(refund, 'I do not know whether it worked.')).result;
    expect(again.status).toBe('completed');
    expect(begun).toBe(1);
    expect(await responses()).toEqual([{ error: INTERRUPTED }]);
  });

  it('is not called again after an approval either, and the approval is used up', async () => {
    const approved = withApproval(refund);
    await living.agents.run(REQUEST, loop(approved, CALL)).result;
    const [asked] = (await living.agents.pendingApprovals(KEY)).approvals;
    const answer = { ...KEY, approvalId: asked?.approvalId ?? '', answer: { confirmed: true } };
    await dyingIn((app) => app.agents.answerApproval(answer, loop(approved)).result);
    const again = await living.agents.answerApproval(answer, loop(approved, 'It may have failed.')).result;
    expect(again.status).toBe('completed');
    expect(begun).toBe(1);
    expect(await responses()).toEqual([{ error: INTERRUPTED }]);
    expect((await living.agents.pendingApprovals(KEY)).approvals).toEqual([]);
  });
});
