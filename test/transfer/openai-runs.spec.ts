import { MemorySession } from '@openai/agents-core';
import { AgentsSession } from '../../src/adapters/openai-agents/index.js';
import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { importRecords, openAiItems } from '../../src/transfer/index.js';
import { scenarios } from '../adapters/openai-agents/support/scenarios.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'chat-1' };

/** The real Runner with the scripted model of the SDK. */
describe('the items that runs of the OpenAI Agents SDK have stored', () => {
  it.each(Object.entries(scenarios))('are the same after the import: %s', async (_title, scenario) => {
    const theirs = new MemorySession({ sessionId: KEY.sessionId });
    await scenario(theirs, []);
    const items = await theirs.getItems();
    const storage = new InMemorySessionStorage();
    const sessions = new SessionService({ storage });
    const read = () => openAiItems({ ...KEY, items, createTime: Date.UTC(2026, 10, 1) });
    expect(await importRecords(storage, read())).toMatchObject({ sessions: { created: 1 }, bad: 0 });
    const ours = new AgentsSession({ sessions, ...KEY });
    expect(await ours.getItems()).toEqual(items);
    expect(items.length).toBeGreaterThan(1);
    expect(await importRecords(storage, read())).toMatchObject({ sessions: { unchanged: 1 }, events: 0 });
  });
});
