import { InMemorySessionStorage, SessionService } from '../../src/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SAID = { author: 'user', content: { parts: [{ text: 'Hi' }] } };

describe('A deletion of an unchanged session', () => {
  let sessions: SessionService;
  beforeEach(() => void (sessions = new SessionService({ storage: new InMemorySessionStorage() })));
  afterEach(async () => sessions.close());

  it('spares a session with an event that its object does not know, and runs no hooks', async () => {
    const hook = jest.fn();
    sessions.hooks.onBeforeDelete(hook);
    const loaded = await sessions.createSession(KEY);
    await sessions.appendEvent({ session: { ...KEY, id: 's' }, event: SAID });
    await sessions.deleteSession({ ...KEY, loaded, ifUnchanged: true });
    expect(await sessions.getSession(KEY)).toMatchObject({ version: 1 });
    expect(hook).not.toHaveBeenCalled();
    await sessions.deleteSession({ ...KEY, loaded, ifUnchanged: false });
    expect(await sessions.getSession(KEY)).toBeUndefined();
  });

  it('spares a session that grows while hooks run', async () => {
    const loaded = await sessions.createSession(KEY);
    sessions.hooks.onBeforeDelete(async () => void (await sessions.appendEvent({ session: loaded, event: SAID })));
    const unknowing = (await sessions.getSession(KEY)) ?? loaded;
    await sessions.deleteSession({ ...KEY, loaded: unknowing, ifUnchanged: true });
    expect(await sessions.getSession(KEY)).toMatchObject({ version: 1 });
  });

  it('takes along what was appended through its object', async () => {
    const loaded = await sessions.createSession(KEY);
    await sessions.appendEvent({ session: loaded, event: SAID });
    await sessions.deleteSession({ ...KEY, loaded, ifUnchanged: true });
    expect(await sessions.getSession(KEY)).toBeUndefined();
  });
});
