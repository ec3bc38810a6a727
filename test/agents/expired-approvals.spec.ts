import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  type Agent,
  type AgentContext,
  AgentHandler,
  AgentRegistry,
  AgentsModule,
  type RunHandler,
  agentLoop,
  defineTool,
} from '../../src/agents/index.js';
import { SessionsModule } from '../../src/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { ScriptedModel } from '../../src/testing/index.js';
import { firstStore } from '../support/stores.js';
import { PENDING_FILTER } from '../../src/agents/invocation/approval-requests.js';
import { until } from '../support/until.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { HeldHandler, failureBy, inShort, text } from './support/handlers.js';

const HOUR = 3_600_000;
const OWNER = { appName: KEY.appName };
const EXPIRED = 'The request for approval expired: nobody answered in time.';

/** What tools did. */
const done: string[] = [];

const refund = defineTool({
  approval: () => ({ hint: 'Refund?', expiresInMs: HOUR }),
  run: () => done.push('refund'),
});

function support(): { readonly model: ScriptedModel; readonly handler: RunHandler } {
  const model = new ScriptedModel([{ calls: [{ id: 'c1', name: 'refund', args: {} }] }, 'You were too late.']);
  return { model, handler: agentLoop({ model: ({ history }) => model.ask(history), tools: { refund } }) };
}

const ask = (id: string) => ({ functionCall: { id, name: 'ask', args: {} } });

/** Asks for `a`, which expires, and for `b`, which does not. */
const asking: RunHandler = async function* (context) {
  if (!context.isResumed) yield { content: { role: 'model', parts: [ask('a'), ask('b')] } };
  yield await context.callTools({
    ask: async (_args, tool) => tool.requestApproval(tool.functionCallId === 'a' ? { expiresInMs: HOUR } : {}),
  });
  yield text('done');
};

const failing: RunHandler = async function* (context) {
  if (context.isResumed) throw new Error('broken');
  yield* asking(context);
};

@Injectable()
@AgentHandler(KEY.appName)
class Impatient implements Agent {
  async *run(context: AgentContext): ReturnType<RunHandler> {
    const { confirmed } = await context.requestApproval({ expiresInMs: 1 });
    yield text(`confirmed: ${confirmed}`);
  }
}

describe.each(firstStore)('an approval that expires, on $name', ({ open }) => {
  const clock = { time: 0, now: () => clock.time };
  let opened: OpenStorage;
  let app: AgentApp;

  beforeEach(async () => {
    clock.time = Date.now();
    opened = await open({});
    app = new AgentApp(opened.storage, { clock, graceMs: 60_000 });
    done.length = 0;
  });

  afterEach(async () => {
    await app.close();
    expect(app.errors).toEqual([]);
    await opened.destroy();
  });

  const request = { ...KEY, newMessage: 'hi', invocationId: 'i-1', agentName: 'agent' };
  const pending = async () => (await app.agents.pendingApprovals(OWNER)).approvals;
  const answer = (approvalId: string, handler: RunHandler, confirmed = true) =>
    app.agents.answerApproval({ ...KEY, approvalId, answer: { confirmed } }, handler).result;
  const said = async () => (await app.log()).map(({ content }) => content?.parts?.[0]?.functionResponse?.response);

  it('says when, and counts as refused after that: the model reads why', async () => {
    const { model, handler } = support();
    expect((await app.agents.run(request, handler).result).status).toBe('waiting');
    expect(await pending()).toMatchObject([{ approvalId: 'c1@i-1', expiresAt: clock.time + HOUR }]);
    clock.time += HOUR - 1;
    expect([await app.agents.expireApprovals(OWNER, handler), (await pending()).length]).toEqual([0, 1]);
    clock.time += 1;
    expect(await pending()).toEqual([]);
    expect(await app.agents.expireApprovals(OWNER, handler)).toBe(1);
    expect(await app.logInShort()).toEqual([
      'user hi',
      'agent ?c1',
      'agent ?c1@i-1',
      'user !c1@i-1',
      'agent !c1',
      'agent You were too late.',
    ]);
    expect(JSON.stringify(model.prompts.at(-1))).toContain(EXPIRED);
    expect((await app.sessions.getSession(KEY))?.metadata).toEqual({ fields: {}, labels: {}, tags: [] });
    expect([done, await app.agents.expireApprovals(OWNER, handler)]).toEqual([[], 0]);
  });

  it('can be answered until then', async () => {
    const { handler } = support();
    await app.agents.run(request, handler).result;
    clock.time += HOUR - 1;
    expect((await answer('c1@i-1', handler)).status).toBe('completed');
    expect(done).toEqual(['refund']);
  });

  it('refuses a late answer, yes and no, and lets the agent go on once', async () => {
    const { handler } = support();
    await app.agents.run(request, handler).result;
    clock.time += HOUR;
    for (const confirmed of [true, false, true]) {
      const late = answer('c1@i-1', handler, confirmed);
      await expect(late).rejects.toMatchObject({ code: 'APPROVAL_EXPIRED', approvalId: 'c1@i-1' });
    }
    expect([done, (await app.logInShort()).at(-1)]).toEqual([[], 'agent You were too late.']);
    expect(await app.agents.run(request, handler).result).toMatchObject({ status: 'completed' });
  });

  it('counts as refused when another one is answered', async () => {
    await app.agents.run(request, asking).result;
    clock.time += HOUR;
    expect((await answer('b@i-1', asking)).status).toBe('completed');
    expect((await said()).filter(Boolean)).toContainEqual({ confirmed: false, reason: EXPIRED });
    expect((await app.sessions.getSession(KEY))?.metadata).toEqual({ fields: {}, labels: {}, tags: [] });
    await expect(answer('a@i-1', asking)).rejects.toMatchObject({ code: 'APPROVAL_EXPIRED' });
  });

  it('is refused later if another message is being answered, and its failure is reported', async () => {
    await app.agents.run(request, failing).result;
    clock.time += HOUR;
    const held = new HeldHandler();
    const run = app.agents.run({ ...KEY, newMessage: 'meanwhile' }, held.handler);
    await held.started;
    expect(await app.agents.expireApprovals(OWNER, failing)).toBe(0);
    held.release();
    await run.result;
    expect(await app.agents.expireApprovals(OWNER, failing)).toBe(0);
    expect(app.failures).toMatchObject([failureBy({ message: 'broken' })]);
    expect((await app.logInShort()).at(-1)).toBe('agent - FAILED');
  });

  it('is refused also if the handlers of others hang', async () => {
    const held = new HeldHandler();
    const ids = Array.from({ length: 12 }, (_, index) => `s-${index}`);
    const hanging: RunHandler = async function* (context) {
      await context.requestApproval({ expiresInMs: HOUR });
      if (context.session.id !== 's-0') yield* held.handler(context);
      yield text('done');
    };
    const quick = new AgentApp(opened.storage, { clock, graceMs: 10 });
    for (const sessionId of ids) await quick.agents.run({ ...KEY, sessionId, newMessage: 'hi' }, hanging).result;
    clock.time += HOUR;
    expect(await quick.agents.expireApprovals(OWNER, hanging)).toBe(12);
    // It gave up waiting for agents that may not have refused yet.
    await until(
      async () =>
        inShort((await quick.sessions.listEvents({ ...KEY, sessionId: 's-0' })).events).at(-1) === 'agent done',
    );
    await until(
      async () => (await quick.sessions.listSessions({ ...OWNER, filter: PENDING_FILTER })).sessions.length === 0,
    );
    expect([await pending(), await quick.agents.expireApprovals(OWNER, hanging)]).toEqual([[], 0]);
    held.release();
    await quick.agents.close({ drainMs: HOUR });
    expect(quick.errors).toEqual([]);
  });

  it('is looked for with the options of runs', async () => {
    await app.agents.run(request, support().handler).result;
    clock.time += HOUR;
    const wrong = { ...OWNER, onMismatch: 'log' as unknown as () => void };
    await expect(app.agents.expireApprovals(wrong, support().handler)).rejects.toMatchObject({ path: 'onMismatch' });
    expect(await app.agents.expireApprovals(OWNER, support().handler)).toBe(1);
  });

  it('says that the user refused, if that was so', async () => {
    await app.agents.run(request, asking).result;
    await answer('a@i-1', asking, false);
    expect((await said()).filter(Boolean)).toContainEqual({ confirmed: false, reason: 'The user refused.' });
  });

  it.each([0, -1, 1.5, Infinity, 'soon'])('is refused to handlers that ask with %p', async (expiresInMs) => {
    const wrong: RunHandler = async function* (context) {
      yield text('One moment');
      await context.requestApproval({ expiresInMs: expiresInMs as number });
    };
    await expect(app.agents.run(request, wrong).result).rejects.toMatchObject(
      failureBy({ path: 'approval.expiresInMs' }),
    );
  });
});

describe('an approval that expires in a Nest app', () => {
  it('counts as refused without any call', async () => {
    const module = await Test.createTestingModule({
      imports: [
        SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
        AgentsModule.forRoot({ expireApprovalsMs: 5 }),
        AgentsModule.forFeature([Impatient]),
      ],
    }).compile();
    const app = await module.createNestApplication().init();
    const registry = app.get(AgentRegistry);
    const request = { ...KEY, newMessage: 'hi', invocationId: 'i-1' };
    await registry.run(request).result;
    const events = async () => inShort((await registry.run(request).result).events);
    await until(async () => (await events()).includes(`${KEY.appName} confirmed: false`));
    await app.close();
  });
});
