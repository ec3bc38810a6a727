import type { RunHandler } from '../../src/agents/index.js';
import { ManualClock } from '../../src/testing/index.js';
import { InMemorySessionStorage } from '../../src/index.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { text } from './support/handlers.js';

const MESSAGE = { ...KEY, newMessage: 'hi' };

const talking: RunHandler = async function* () {
  for (let count = 0; count < 5; count++) yield text(`part ${count}`);
};

describe('quotas of runs', () => {
  let app: AgentApp;
  const clock = new ManualClock(Date.UTC(2026, 10, 23, 12));

  const start = (user: object): AgentApp =>
    (app = new AgentApp(new InMemorySessionStorage({ clock }), { clock, quotas: { user } }));

  afterEach(async () => {
    await app.close();
    expect(app.errors).toEqual([]);
  });

  it('let so many begin in a minute, and write no message of the others', async () => {
    const { agents } = start({ runsPerMinute: 2 });
    for (let count = 0; count < 2; count++) await agents.run(MESSAGE, talking).result;
    const before = await app.log();
    const refusal = { code: 'QUOTA_EXCEEDED', quota: { quota: 'runsPerMinute', used: 2, limit: 2 } };
    await expect(agents.run(MESSAGE, talking).result).rejects.toMatchObject(refusal);
    expect(await app.log()).toEqual(before);
    clock.advanceSeconds(60);
    await agents.run(MESSAGE, talking).result;
  });

  it('refuse nobody who asks again for a run that has begun, but those who want another answer', async () => {
    const { agents } = start({ runsPerMinute: 1 });
    const again = { ...MESSAGE, invocationId: 'i-1' };
    const { events } = await agents.run(again, talking).result;
    const log = await app.log();
    expect((await agents.run(again, talking).result).events).toEqual(events);
    expect(await app.log()).toEqual(log);
    const refusal = { quota: { quota: 'runsPerMinute', limit: 1 } };
    await expect(agents.run({ ...again, retry: true }, talking).result).rejects.toMatchObject(refusal);
    await expect(agents.run({ ...again, invocationId: 'i-2' }, talking).result).rejects.toMatchObject(refusal);
  });

  it('lose no answer of a run that was let in, and refuse the next one', async () => {
    const { agents } = start({ appendsPerMinute: 3 });
    const { status } = await agents.run(MESSAGE, talking).result;
    expect(status).toBe('completed');
    expect(await app.logInShort()).toHaveLength(6);
    const refusal = { quota: { quota: 'appendsPerMinute', limit: 3 } };
    await expect(agents.run(MESSAGE, talking).result).rejects.toMatchObject(refusal);
    const { quotas } = await app.sessions.getUsage({ appName: 'shop', userId: 'ann' });
    expect(quotas).toMatchObject([{ used: 6, limit: 3 }]);
  });

  it('store an answer beyond the limit of stored bytes, and refuse the next run', async () => {
    const { agents } = start({ storedBytes: 700 });
    expect((await agents.run(MESSAGE, talking).result).status).toBe('completed');
    expect(await app.logInShort()).toHaveLength(6);
    const { quotas } = await app.sessions.getUsage({ appName: 'shop', userId: 'ann' });
    expect(quotas?.[0]?.used).toBeGreaterThan(700);
    clock.advanceSeconds(60);
    const refusal = { quota: { quota: 'storedBytes', limit: 700 } };
    await expect(agents.run(MESSAGE, talking).result).rejects.toMatchObject(refusal);
    expect(await app.logInShort()).toHaveLength(6);
  });

  it('begin no session beyond the limit', async () => {
    const { agents } = start({ sessions: 1 });
    await agents.run(MESSAGE, talking).result;
    const other = agents.run({ ...MESSAGE, sessionId: 'other' }, talking).result;
    await expect(other).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED', quota: { quota: 'sessions' } });
  });
});
