import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import type { AppendOutcome, Commit } from '../../src/storage.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const userSays = { author: 'user', content: { parts: [{ text: 'Hello' }] } };
const agentSays = { author: 'agent', content: { parts: [{ text: 'Hello' }] } };

/** Writes at once, but delays the acknowledgement of the given event ids until `acknowledge` is called. */
class LateStorage extends InMemorySessionStorage {
  readonly #late = new Map<string, () => void>();

  constructor(private readonly ids: readonly string[]) {
    super();
  }

  override async append(commit: Commit): Promise<AppendOutcome> {
    const outcome = await super.append(commit);
    const id = commit.events[0]?.id ?? '';
    if (this.ids.includes(id)) await new Promise<void>((resolve) => this.#late.set(id, resolve));
    return outcome;
  }

  acknowledge(id: string): void {
    this.#late.get(id)?.();
  }
}

describe('an append that is acknowledged after later appends', () => {
  it.each([5, 40, 400])('puts its anchor at the start of the view, %d events later', async (later) => {
    const storage = new LateStorage(['late']);
    const sessions = new SessionService({ storage, history: { maxEvents: 2 } });
    const session = await sessions.createSession(KEY);
    await sessions.appendEvent({ session, event: userSays });
    const late = sessions.appendEvent({ session, event: { ...userSays, id: 'late' } });
    for (let count = 0; count < later; count++) await sessions.appendEvent({ session, event: agentSays });
    const seqs = (): (number | undefined)[] => session.events.map(({ seq }) => seq);
    expect(seqs()).toEqual([1, later + 1, later + 2]);
    storage.acknowledge('late');
    await late;
    expect(seqs()).toEqual([2, later + 1, later + 2]);
    expect(session.events).toEqual((await sessions.getSession(KEY))?.events);
  });

  it('does not replace a later anchor', async () => {
    const storage = new LateStorage(['late']);
    const sessions = new SessionService({ storage, history: { maxEvents: 2 } });
    const session = await sessions.createSession(KEY);
    const late = sessions.appendEvent({ session, event: { ...userSays, id: 'late' } });
    await sessions.appendEvent({ session, event: userSays });
    for (let count = 0; count < 200; count++) await sessions.appendEvent({ session, event: agentSays });
    storage.acknowledge('late');
    await late;
    expect(session.events.map(({ seq }) => seq)).toEqual([2, 201, 202]);
  });

  it('stays in the view if a summary was added before the acknowledgement', async () => {
    const storage = new LateStorage(['late']);
    const sessions = new SessionService({ storage });
    const session = await sessions.createSession(KEY);
    await sessions.appendEvent({ session, event: userSays });
    const late = sessions.appendEvent({ session, event: { ...agentSays, id: 'late' } });
    const compaction = { fromSeq: 1, toSeq: 1 };
    await sessions.appendEvent({ session, event: { author: 'system', actions: { compaction } } });
    storage.acknowledge('late');
    await late;
    expect(session.events.map(({ seq }) => seq)).toEqual([3, 2]);
  });
});
