import { InMemorySessionStorage } from '../../src/index.js';
import { until } from '../support/until.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { HeldHandler, call, echo, partial, text } from './support/handlers.js';

describe('a rewind while a run goes on', () => {
  let one: AgentApp;
  let two: AgentApp;

  beforeEach(() => {
    const storage = new InMemorySessionStorage();
    one = new AgentApp(storage);
    two = new AgentApp(storage);
  });

  afterEach(async () => {
    await one.close();
    await two.close();
    expect([...one.errors, ...two.errors]).toEqual([]);
  });

  const request = { ...KEY, newMessage: 'hi', invocationId: 'i-1' };
  const view = async () => (await one.sessions.getSession(KEY))?.events.map(({ author }) => author);

  /** Starts a run that is in the middle of its turn. */
  async function running() {
    const held = new HeldHandler([call('c1'), partial('It')], [text('late')]);
    const run = one.agents.run(request, held.handler);
    await held.started;
    return { run, held };
  }

  it('ends the run at once: it stores nothing more, and the next one begins at the rewound place', async () => {
    await one.agents.run({ ...KEY, newMessage: 'before' }, echo).result;
    const { run, held } = await running();
    await two.sessions.rewindSession({ ...KEY, invocationId: 'i-1' });
    await expect(run.result).rejects.toMatchObject({ code: 'TURN_LOST' });
    expect(held.context?.signal.aborted).toBe(true);
    held.release();
    const { session } = await two.agents.run({ ...KEY, newMessage: 'again' }, echo).result;
    expect(session.events.map(({ author }) => author)).toEqual(['user', 'agent', 'user', 'agent']);
    expect((await one.logInShort()).slice(2)).toEqual([
      'user hi',
      'agent ?c1',
      'system rewind',
      'user again',
      'agent echo: again',
    ]);
  });

  it('into the middle of the run leaves a call that the next run closes', async () => {
    const { run } = await running();
    await two.sessions.rewindSession({ ...KEY, toSeq: 2 });
    await expect(run.result).rejects.toMatchObject({ code: 'TURN_LOST' });
    await two.agents.run({ ...KEY, newMessage: 'again' }, echo).result;
    expect((await one.logInShort()).slice(3)).toEqual(['agent !c1', 'agent - DIED', 'user again', 'agent echo: again']);
  });

  it('lets a repeated request return what is left, and not run again', async () => {
    const { run } = await running();
    const handler = jest.fn(echo);
    const following = two.agents.run(request, handler);
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const event of following) seen.push(event.author);
    })();
    await until(async () => Promise.resolve(seen.length > 0));
    await two.sessions.rewindSession({ ...KEY, toSeq: 0 });
    await expect(run.result).rejects.toMatchObject({ code: 'TURN_LOST' });
    const interrupted = { status: 'interrupted', invocationId: 'i-1', events: [] };
    expect(await following.result).toMatchObject(interrupted);
    await reading;
    expect(await one.agents.run(request, handler).result).toMatchObject(interrupted);
    expect([handler.mock.calls, await view()]).toEqual([[], []]);
  });

  it('lets the messages that wait go on', async () => {
    const { run } = await running();
    const waiting = two.agents.run({ ...KEY, newMessage: 'next', policy: 'enqueue' }, echo);
    await until(async () => (await one.logInShort()).includes('system queued'));
    await two.sessions.rewindSession({ ...KEY, toSeq: 0 });
    await expect(run.result).rejects.toMatchObject({ code: 'TURN_LOST' });
    expect(await waiting.result).toMatchObject({ status: 'completed' });
    expect(await view()).toEqual(['user', 'agent']);
  });
});
