import { EventEmitter, once } from 'node:events';
import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import type { AppendOutcome, Commit } from '../../src/storage.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'one' };

/** A store that delays the responses of chosen appends. */
class LateStorage extends InMemorySessionStorage {
  readonly #release = new EventEmitter();
  readonly #held = new Map<string, Promise<unknown>>();

  /** Delays the response for this event until the returned function is called. */
  delay(eventId: string): () => void {
    this.#held.set(eventId, once(this.#release, eventId));
    return () => this.#release.emit(eventId);
  }

  override async append(commit: Commit): Promise<AppendOutcome> {
    const outcome = await super.append(commit);
    await this.#held.get(commit.events[0]?.id ?? '');
    return outcome;
  }
}

const says = (id: string): { id: string; author: string } => ({ id, author: 'user' });

describe('a session object whose appends return out of order', () => {
  it.each([
    ['a summary before the late event', { compaction: { fromSeq: 1, toSeq: 2 } }],
    ['a summary of the late event', { compaction: { fromSeq: 1, toSeq: 3 } }],
    ['a rewind of the late event', { rewind: { toSeq: 2 } }],
  ])('shows the same events as a fresh load after %s', async (_title, actions) => {
    const storage = new LateStorage();
    const sessions = new SessionService({ storage });
    const session = await sessions.createSession(KEY);
    for (const id of ['1', '2']) await sessions.appendEvent({ session, event: says(id) });

    const release = storage.delay('late');
    const late = sessions.appendEvent({ session, event: says('late') });
    await sessions.appendEvent({ session, event: { id: 'control', author: 'system', actions } });
    release();
    await late;
    expect(session.events).toEqual((await sessions.getSession(KEY))?.events);
    expect(session.version).toBe(4);
  });

  it('does not show events twice, or rewound events', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const stale = await sessions.createSession(KEY);
    const other = await sessions.getSession(KEY);
    if (!other) throw new Error('The session does not exist');
    for (const id of ['1', '2']) await sessions.appendEvent({ session: other, event: says(id) });
    const summary = { id: 's', author: 'system', actions: { compaction: { fromSeq: 1, toSeq: 1 } } };
    await sessions.appendEvent({ session: stale, event: summary });
    await sessions.appendEvent({ session: stale, event: says('2') });
    expect(stale.events.map(({ id }) => id)).toEqual(['s', '2']);

    await sessions.rewindSession({ ...KEY, toSeq: 0 });
    await sessions.appendEvent({ session: stale, event: says('1') });
    expect(stale.events).toEqual([]);
  });

  it('appends at the same cost while an event is missing', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const session = await sessions.createSession(KEY);
    await sessions.appendEvent({ session: { ...KEY, id: KEY.sessionId }, event: says('unknown') });
    for (let count = 0; count < 500; count++) await sessions.appendEvent({ session, event: { author: 'agent' } });
    expect(session.version).toBe(0);
    await sessions.appendEvent({ session, event: says('unknown') });
    expect(session.version).toBe(501);
  });
});
