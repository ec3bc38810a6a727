import { type EventInput, InMemorySessionStorage, SessionService } from '../../src/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
const EVENT: EventInput = { id: 'e1', author: 'user', content: { role: 'user', parts: [{ text: 'hello' }] } };

describe('an event that is sent again through a hook', () => {
  let sessions: SessionService;

  beforeEach(async () => {
    sessions = new SessionService({ storage: new InMemorySessionStorage() });
    await sessions.createSession(KEY);
  });

  /** Adds one more label each time, so that no event passes it unchanged. */
  function labelEach(): void {
    sessions.hooks.onBeforeAppend(({ event }) => {
      const labels = (event.customMetadata?.labels ?? []) as string[];
      return { ...event, customMetadata: { labels: [...labels, 'eu'] } };
    });
  }

  it('is a duplicate as it was sent, and as the hook made it', async () => {
    labelEach();
    const stored = await sessions.appendEvent({ session: SESSION, event: EVENT });
    expect(stored.customMetadata).toEqual({ labels: ['eu'] });
    const returned = JSON.parse(JSON.stringify(stored)) as EventInput;
    for (const event of [EVENT, returned]) {
      expect(await sessions.append({ session: SESSION, event })).toEqual({ event: stored, duplicate: true });
    }
  });

  it('is a conflict with other content', async () => {
    labelEach();
    const stored = await sessions.appendEvent({ session: SESSION, event: EVENT });
    const others = [
      { ...EVENT, author: 'agent' },
      { ...stored, customMetadata: { labels: ['eu', 'eu'] } },
    ];
    for (const event of others) {
      await expect(sessions.append({ session: SESSION, event })).rejects.toMatchObject({ code: 'EVENT_CONFLICT' });
    }
  });

  it('is a conflict where only the hook makes an event of it that can be stored', async () => {
    sessions.hooks.onBeforeAppend(({ event }) => ({ author: `agent ${event.content?.role}`, ...event }));
    const { author: _author, ...nobodys } = EVENT;
    const stored = await sessions.appendEvent({ session: SESSION, event: nobodys });
    expect(stored.author).toBe('agent user');
    expect(await sessions.append({ session: SESSION, event: nobodys })).toMatchObject({ duplicate: true });
    const other = { ...nobodys, content: { ...EVENT.content, role: 'model' } };
    await expect(sessions.append({ session: SESSION, event: other })).rejects.toMatchObject({ code: 'EVENT_CONFLICT' });
  });

  it('needs an author by the time the hooks are done', async () => {
    sessions.hooks.onBeforeAppend(({ event: { author: _author, ...event } }) => event);
    const appending = sessions.append({ session: SESSION, event: EVENT });
    await expect(appending).rejects.toMatchObject({ code: 'INVALID_INPUT', path: '$.author' });
  });
});

function says(text: string, stateDelta = {}): EventInput {
  return { author: 'user', content: { parts: [{ text }] }, actions: { stateDelta } };
}

describe('an event of a fork', () => {
  it('is a duplicate when it is sent to the fork as it was returned, with what the fork changed in it', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    await sessions.createSession(KEY);
    const compaction = { fromSeq: 1, toSeq: 1 };
    for (const event of [
      says('one'),
      { ...says('summary'), author: 'system', actions: { compaction } },
      says('two', { k: 1 }),
      { author: 'system', actions: { rewind: { toSeq: 1 }, stateDelta: { k: 2 } } },
      says('three'),
    ]) {
      await sessions.appendEvent({ session: SESSION, event });
    }
    const fork = await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    const { events } = await sessions.listEvents({ ...KEY, sessionId: fork.id });
    expect(events.length).toBeGreaterThan(1);
    for (const event of events) {
      expect(await sessions.append({ session: fork, event })).toEqual({ event, duplicate: true });
    }
  });
});
