import { type EventInput, InMemorySessionStorage, SessionService } from '../../src/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
const EVENT: EventInput = { id: 'e1', author: 'user', content: { role: 'user', parts: [{ text: 'hello' }] } };

describe('an event that is retried with an append hook', () => {
  let sessions: SessionService;

  beforeEach(async () => {
    sessions = new SessionService({ storage: new InMemorySessionStorage() });
    await sessions.createSession(KEY);
  });

  /** Adds one more label each time, so that every event changes. */
  function labelEach(): void {
    sessions.hooks.onBeforeAppend(({ event }) => {
      const labels = (event.customMetadata?.labels ?? []) as string[];
      return { ...event, customMetadata: { labels: [...labels, 'eu'] } };
    });
  }

  it('is a duplicate in its original form and in the form the hook returned', async () => {
    labelEach();
    const stored = await sessions.appendEvent({ session: SESSION, event: EVENT });
    expect(stored.customMetadata).toEqual({ labels: ['eu'] });
    const returned = JSON.parse(JSON.stringify(stored)) as EventInput;
    for (const event of [EVENT, returned]) {
      expect(await sessions.append({ session: SESSION, event })).toEqual({ event: stored, duplicate: true });
    }
  });

  it('is a conflict if its content differs', async () => {
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

  it('is a conflict if its content differs and only the hook makes it valid', async () => {
    sessions.hooks.onBeforeAppend(({ event }) => ({ author: `agent ${event.content?.role}`, ...event }));
    const { author: _author, ...withoutAuthor } = EVENT;
    const stored = await sessions.appendEvent({ session: SESSION, event: withoutAuthor });
    expect(stored.author).toBe('agent user');
    expect(await sessions.append({ session: SESSION, event: withoutAuthor })).toMatchObject({ duplicate: true });
    const other = { ...withoutAuthor, content: { ...EVENT.content, role: 'model' as const } };
    await expect(sessions.append({ session: SESSION, event: other })).rejects.toMatchObject({ code: 'EVENT_CONFLICT' });
  });

  it('needs an author after the hooks have run', async () => {
    sessions.hooks.onBeforeAppend(({ event: { author: _author, ...event } }) => event);
    const appending = sessions.append({ session: SESSION, event: EVENT });
    await expect(appending).rejects.toMatchObject({ cause: { code: 'INVALID_INPUT', path: '$.author' } });
  });
});

function says(text: string, stateDelta = {}): EventInput {
  return { author: 'user', content: { parts: [{ text }] }, actions: { stateDelta } };
}

describe('an event of a fork', () => {
  it('is a duplicate if it is appended to the fork in the form in which the fork returned it', async () => {
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
