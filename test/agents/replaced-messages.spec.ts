import type { RunPolicy } from '../../src/agents/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { storeOfEachKind } from '../support/stores.js';
import { until } from '../support/until.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { HeldHandler, echo } from './support/handlers.js';

describe.each(storeOfEachKind)('a message that replaces earlier ones, on $name', ({ open }) => {
  let opened: OpenStorage;
  let app: AgentApp;

  beforeEach(async () => {
    opened = await open({});
    app = new AgentApp(opened.storage);
  });

  afterEach(async () => {
    await app.close();
    expect(app.errors).toEqual([]);
    await opened.destroy();
  });

  const shown = async (): Promise<(string | undefined)[]> =>
    ((await app.sessions.getSession(KEY))?.events ?? []).map(({ content }) => content?.parts?.[0]?.text);

  it('rewinds in its turn, once, and keeps its metadata', async () => {
    await app.agents.run({ ...KEY, newMessage: 'first' }, echo).result;
    await app.agents.run({ ...KEY, newMessage: 'second' }, echo).result;
    const edited = {
      ...KEY,
      newMessage: '2nd',
      invocationId: 'i-2',
      rewindTo: 2,
      customMetadata: { page: { id: 'm-2' } },
    };
    const { events } = await app.agents.run(edited, echo).result;
    expect(await shown()).toEqual(['first', 'echo: first', '2nd', 'echo: 2nd']);
    const session = await app.sessions.getSession(KEY);
    expect(session?.events[2]?.customMetadata).toEqual({ page: { id: 'm-2' } });
    const again = await app.agents.run(edited, echo).result;
    expect(again.events).toEqual(events);
    expect((await app.sessions.getSession(KEY))?.version).toBe(session?.version);
  });

  it('waits for the running turn with `enqueue`', async () => {
    await app.agents.run({ ...KEY, newMessage: 'first' }, echo).result;
    const held = new HeldHandler();
    const running = app.agents.run({ ...KEY, newMessage: 'second' }, held.handler);
    await held.started;
    const replaced = {
      ...KEY,
      newMessage: 'anew',
      rewindTo: 0,
      customMetadata: { page: 1 },
      policy: 'enqueue',
    } as const;
    const waiting = app.agents.run(replaced, echo);
    await until(async () => (await app.logInShort()).includes('system queued'));
    held.release();
    await running.result;
    await waiting.result;
    expect(await shown()).toEqual(['anew', 'echo: anew']);
    expect((await app.sessions.getSession(KEY))?.events[0]?.customMetadata).toEqual({ page: 1 });
  });

  it('is refused if it is no place in the log', () => {
    expect(() => app.agents.run({ ...KEY, newMessage: 'first', rewindTo: -1 }, echo)).toThrow('rewindTo');
  });

  it('is refused, and not stored, if it rewinds to an event that is not there', async () => {
    await app.agents.run({ ...KEY, newMessage: 'first' }, echo).result;
    const { version = 0 } = (await app.sessions.getSession(KEY)) ?? {};
    const run = async (rewindTo: number, policy: RunPolicy): Promise<unknown> =>
      app.agents.run({ ...KEY, newMessage: 'anew', rewindTo, policy }, echo).result;
    const refused = { code: 'INVALID_INPUT', path: 'rewindTo' };
    await expect(run(version + 1, 'reject')).rejects.toMatchObject(refused);
    const held = new HeldHandler();
    const running = app.agents.run({ ...KEY, newMessage: 'second' }, held.handler);
    await held.started;
    await expect(run(99, 'enqueue')).rejects.toMatchObject(refused);
    held.release();
    await running.result;
    expect(await app.logInShort()).not.toContain('system queued');
    expect(await shown()).not.toContain('anew');
    const { version: last = 0 } = (await app.sessions.getSession(KEY)) ?? {};
    expect(await run(last, 'reject')).toMatchObject({ status: 'completed' });
  });
});
