import type { AgentRun, RunHandler, RunRequest } from '../../src/agents/index.js';
import { queueEvent } from '../../src/agents/turn/control-events.js';
import type { EventInput } from '../../src/index.js';
import { METADATA_LIMITS } from '../../src/sessions/domain/metadata/metadata-limits.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { storeOfEachKind } from '../support/stores.js';
import { until } from '../support/until.js';
import { AgentApp, KEY, SESSION } from './support/agent-app.js';
import { HeldHandler, call, echo, eventsOf, inShort, partial, text } from './support/handlers.js';

const FIRST = { ...KEY, newMessage: 'first', invocationId: 'i-1' } as const;
const SECOND = { ...KEY, newMessage: 'second', invocationId: 'i-2' } as const;
const MERGED = { ...SECOND, policy: 'merge' } as const;
const ANSWER = { ...KEY, approvalId: 'sure@i-1', answer: { confirmed: true } };

/** Says whether it goes on with something. */
const goingOn: RunHandler = async function* (context) {
  await Promise.resolve();
  yield text(`${context.isResumed ? 'resumed' : 'begun'}: ${context.message.parts?.[0]?.text ?? ''}`);
};

/** Asks for approval if the message is the first one. */
const asking: RunHandler = async function* (context) {
  if (context.invocationId === SECOND.invocationId) return yield* goingOn(context);
  const { confirmed } = await context.requestApproval({ id: 'sure', expiresInMs: 1_000 });
  yield text(`confirmed ${confirmed}`);
};

const failing: RunHandler = () => {
  throw new Error('The model is down.');
};

/** Goes on when a message was merged into it. */
const taking = (held: HeldHandler): RunHandler =>
  async function* (context) {
    yield call('c1');
    await until(async () => (await context.takeMessages()).length > 0);
    yield* held.handler(context);
  };

/** The answer of another agent. */
const by = (author: string, event: EventInput): EventInput => ({ ...event, author });

const secondAgent: RunHandler = async function* () {
  await Promise.resolve();
  yield by('b', text('whole'));
};

/** Without what was taken back: whether half a text had been saved by then depends on the time. */
const kept = (log: readonly string[]): string[] => log.filter((line) => !line.endsWith(' discarded'));

describe.each(storeOfEachKind)('runs that were handed over on $name', ({ open }) => {
  let opened: OpenStorage;
  let closing: AgentApp;
  let next: AgentApp;
  let now: number;

  beforeEach(async () => {
    opened = await open({});
    now = Date.now();
    const clock = { now: () => now };
    closing = new AgentApp(opened.storage, { clock });
    next = new AgentApp(opened.storage, { graceMs: 100, clock });
  });

  afterEach(async () => {
    await closing.close();
    await next.close();
    expect([...closing.errors, ...next.errors]).toEqual([]);
    await opened.destroy();
  });

  const said = async () => (await next.logInShort()).filter((event) => !event.startsWith('system'));

  async function handOver(held: HeldHandler, run: AgentRun): Promise<void> {
    await held.started;
    await closing.agents.close();
    await expect(run.result).rejects.toMatchObject({ code: 'AGENTS_CLOSING' });
  }

  async function handOverRun(request: RunRequest, before: readonly EventInput[] = [call('c1')]): Promise<void> {
    const held = new HeldHandler(before);
    await handOver(held, closing.agents.run(request, held.handler));
  }

  describe('come before the rest of the session', () => {
    const answers = ['user second', 'agent ?c1', 'agent !c1', 'agent resumed: second'];

    it('when an approval of another run is answered', async () => {
      await next.agents.run(FIRST, asking).result;
      await handOverRun(SECOND);
      const { status, events } = await next.agents.answerApproval(ANSWER, asking).result;
      expect([status, inShort(events)]).toEqual(['completed', ['agent confirmed true']]);
      const log = ['user first', 'agent ?sure@i-1', ...answers, 'user !sure@i-1', 'agent confirmed true'];
      expect(await said()).toEqual(log);
      expect(await next.agents.run(SECOND, goingOn).result).toMatchObject({ status: 'completed' });
      expect(await said()).toEqual(log);
    });

    it('when an approval of another run expires', async () => {
      await next.agents.run(FIRST, asking).result;
      await handOverRun(SECOND);
      now += 1_000;
      expect(await next.agents.expireApprovals({ appName: KEY.appName }, asking)).toBe(1);
      // A slow run goes on after its round.
      await until(async () => (await said()).at(-1) === 'agent confirmed false');
      expect((await said()).slice(2)).toEqual([...answers, 'user !sure@i-1', 'agent confirmed false']);
    });

    it('when another run is tried again', async () => {
      await expect(next.agents.run(FIRST, failing).result).rejects.toMatchObject({ code: 'AGENT_FAILED' });
      await handOverRun(SECOND);
      expect(await next.agents.run({ ...FIRST, retry: true }, goingOn).result).toMatchObject({ status: 'completed' });
      expect((await said()).slice(2)).toEqual([...answers, 'agent resumed: first']);
    });
  });

  describe('answer all their messages', () => {
    beforeEach(async () => {
      await next.sessions.createSession(KEY);
    });

    it('when one that was merged into them is sent again', async () => {
      const held = new HeldHandler();
      const run = closing.agents.run(FIRST, taking(held));
      await until(async () => (await said()).includes('agent ?c1'));
      const other = closing.agents.run(MERGED, goingOn);
      await handOver(held, run);
      await expect(other.result).rejects.toMatchObject({ code: 'AGENTS_CLOSING' });
      const again = next.agents.run(MERGED, goingOn);
      expect(await again.result).toMatchObject({ status: 'completed', invocationId: 'i-1' });
      expect(inShort(await eventsOf(again)).at(-1)).toBe('agent resumed: first');
      expect(await next.agents.run(FIRST, goingOn).result).toMatchObject({ status: 'completed' });
      expect((await said()).slice(-2)).toEqual(['agent !c1', 'agent resumed: first']);
    });

    it('when the instance of one that was merged into them is alive', async () => {
      const held = new HeldHandler();
      const run = closing.agents.run(FIRST, taking(held));
      await until(async () => (await said()).includes('agent ?c1'));
      const other = next.agents.run(MERGED, goingOn);
      await handOver(held, run);
      expect(await other.result).toMatchObject({ status: 'completed', invocationId: 'i-1' });
      expect(inShort(await eventsOf(other))).toEqual(['agent !c1', 'agent resumed: first']);
    });

    it('when the instance of one that came before it was quiet is alive', async () => {
      const held = new HeldHandler();
      // The first one must not be over its quiet time before the second one comes, however slow the machine is.
      const other = next.agents.run({ ...FIRST, policy: 'debounce', quietMs: 600_000 }, goingOn);
      await until(async () => (await next.logInShort()).length === 1);
      await handOver(held, closing.agents.run({ ...SECOND, policy: 'debounce', quietMs: 100 }, held.handler));
      expect(await other.result).toMatchObject({ status: 'completed', invocationId: 'i-2' });
      expect(await said()).toEqual(['user first', 'user second', 'agent resumed: second']);
    });
  });

  it('are followed to their end, event by event, by an instance where the same request waits', async () => {
    const held = new HeldHandler([by('a', text('whole')), by('b', partial('who'))]);
    const run = closing.agents.run(FIRST, held.handler);
    await held.started;
    const following = next.agents.run(FIRST, secondAgent);
    const reading = eventsOf(following);
    await handOver(held, run);
    expect(await following.result).toMatchObject({ status: 'completed' });
    const read = (await reading).filter((event) => !event.partial && event.content);
    expect(inShort(read)).toEqual(['a whole', 'b whole']);
  });

  it('have room in a session where as many messages wait as it takes', async () => {
    const waiting = Array.from({ length: METADATA_LIMITS.reserved }, (_, place) =>
      queueEvent(`w-${place}`, KEY.sessionId, { policy: 'enqueue', message: { parts: [{ text: `${place}` }] } }),
    );
    const held = new HeldHandler([call('c1')]);
    const run = closing.agents.run(FIRST, held.handler);
    await held.started;
    await next.sessions.appendEvents({ session: SESSION, events: waiting });
    const full = next.agents.run({ ...SECOND, policy: 'enqueue' }, echo);
    await expect(full.result).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    await handOver(held, run);
    expect(await next.agents.run(FIRST, goingOn).result).toMatchObject({ status: 'completed' });
    expect(await said()).toEqual(['user first', 'agent ?c1', 'agent !c1', 'agent resumed: first']);
  });

  it('are over as soon as a message interrupts them', async () => {
    await handOverRun(FIRST, [by('a', text('whole')), by('b', partial('who'))]);
    const held = new HeldHandler();
    const run = next.agents.run({ ...SECOND, policy: 'interrupt' }, held.handler);
    await held.started;
    expect(await next.agents.stop({ ...KEY, invocationId: 'i-1' })).toBe(false);
    held.release();
    await run.result;
    expect(await next.agents.run(FIRST, secondAgent).result).toMatchObject({ status: 'interrupted' });
    expect(kept(await said())).toEqual(['user first', 'a whole', 'a - INTERRUPTED', 'user second', 'agent done']);
  });

  it('are stopped once the turn that keeps them from it is over', async () => {
    await handOverRun(FIRST);
    const turn = await next.sessions.beginTurn({ ...KEY, holder: 'another', ttlMs: 60_000 });
    const tries = jest.spyOn(next.sessions, 'withTurn');
    const stopped = next.agents.stop({ ...KEY, invocationId: 'i-1' });
    await until(() => tries.mock.calls.length > 2);
    await next.sessions.endTurn(turn);
    expect(await stopped).toBe(true);
    expect((await said()).at(-1)).toBe('agent - STOPPED');
  });

  describe('whose first agent had said everything', () => {
    it('go on when they are sent again to be tried again', async () => {
      await handOverRun(FIRST, [by('a', text('whole')), by('b', partial('who'))]);
      const again = await next.agents.run({ ...FIRST, retry: true }, secondAgent).result;
      expect(again).toMatchObject({ status: 'completed' });
      expect(kept(inShort(again.events))).toEqual(['a whole', 'b whole']);
      expect(kept(await said())).toEqual(['user first', 'a whole', 'b whole']);
    });

    it('go on when the answer to their approval is given again', async () => {
      const team = (held?: HeldHandler): RunHandler =>
        async function* (context) {
          const { confirmed } = await context.requestApproval({ id: 'sure' });
          if (!held) yield* secondAgent(context);
          else {
            yield by('a', text(`confirmed ${confirmed}`));
            yield* held.handler(context);
          }
        };
      await next.agents.run(FIRST, team()).result;
      const held = new HeldHandler([by('b', partial('who'))]);
      await handOver(held, closing.agents.answerApproval(ANSWER, team(held)));
      expect(await next.agents.answerApproval(ANSWER, team()).result).toMatchObject({ status: 'completed' });
      expect(kept(await said()).slice(-2)).toEqual(['a confirmed true', 'b whole']);
    });
  });
});
