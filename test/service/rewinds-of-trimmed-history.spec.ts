import { type EventInput, InMemorySessionStorage, SessionService } from '../../src/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };

/** A log of turns. Trimming is considered at 64 events, 128, and so on. */
class Log {
  readonly storage = new InMemorySessionStorage();
  readonly sessions: SessionService;

  constructor(keepHistory: boolean) {
    this.sessions = new SessionService({ storage: this.storage, history: { maxEvents: 10, keepHistory } });
  }

  async append(event: EventInput): Promise<void> {
    await this.sessions.appendEvent({ session: SESSION, event });
    await this.sessions.whenIdle();
  }

  async fillUpTo(lastSeq: number): Promise<void> {
    for (let seq = (await this.record()).lastSeq + 1; seq <= lastSeq; seq++) {
      await this.append({ author: seq % 2 ? 'user' : 'agent', content: { parts: [{ text: `text ${seq}` }] } });
    }
  }

  async rewind(toSeq: number): Promise<void> {
    await this.sessions.rewindSession({ ...KEY, toSeq });
    await this.sessions.whenIdle();
  }

  async record() {
    const read = await this.storage.read({ key: KEY });
    if (!read) throw new Error('The session does not exist');
    return read.record;
  }

  /** The counters of the session, and those under its summary. */
  async counts(): Promise<unknown> {
    const { counters, marks } = await this.record();
    return { counters, covered: marks.covered };
  }
}

describe('a rewind after the start of the log was trimmed', () => {
  let kept: Log;
  let trimmed: Log;

  async function onBoth(work: (log: Log) => Promise<void>): Promise<void> {
    await work(kept);
    await work(trimmed);
  }

  beforeEach(async () => {
    kept = new Log(true);
    trimmed = new Log(false);
    await onBoth(async ({ sessions }) => void (await sessions.createSession(KEY)));
  });

  it('keeps what the current summary covers', async () => {
    await onBoth(async (log) => {
      await log.fillUpTo(70);
      const compaction = { fromSeq: 60, toSeq: 68 };
      await log.append({ author: 'system', content: { parts: [{ text: 'In short' }] }, actions: { compaction } });
      await log.fillUpTo(80);
      await log.rewind(75);
    });
    expect((await trimmed.record()).firstSeq).toBeGreaterThan(50);
    expect(await kept.counts()).toMatchObject({ covered: { turns: 34, events: 68 } });
    expect(await trimmed.counts()).toEqual(await kept.counts());
  });

  it('counts the turns of a version between two rewinds', async () => {
    await onBoth(async (log) => {
      await log.fillUpTo(50);
      await log.rewind(5);
      await log.fillUpTo(60);
      // Restores what the first rewind hid, so that the view includes it.
      await log.rewind(21);
      await log.fillUpTo(64);
    });
    // The view alone would allow 15 as the first event, but the first rewind targets 5.
    expect((await trimmed.record()).firstSeq).toBe(6);
    await onBoth((log) => log.rewind(56));
    const counted = [1, 3, 5, 53, 55].length;
    expect((await trimmed.sessions.getSession(KEY))?.conversationCount).toBe(counted);
    expect(await trimmed.counts()).toEqual(await kept.counts());
  });

  it('can target an invocation that starts at the first kept event', async () => {
    await trimmed.fillUpTo(54);
    for (let seq = 55; seq <= 64; seq++) {
      await trimmed.append({ author: seq === 55 ? 'user' : 'agent', invocationId: 'last', content: { parts: [] } });
    }
    expect((await trimmed.record()).firstSeq).toBe(55);
    await trimmed.sessions.rewindSession({ ...KEY, invocationId: 'last' });
    expect((await trimmed.sessions.getSession(KEY))?.events).toEqual([]);
  });

  it('is trimmed itself when it is no longer in the view', async () => {
    await trimmed.fillUpTo(50);
    await trimmed.rewind(5);
    await trimmed.fillUpTo(64);
    expect((await trimmed.record()).firstSeq).toBe(55);
  });

  it('hides calls, so that they no longer match a tool response', async () => {
    const call = { author: 'agent', content: { parts: [{ functionCall: { name: 'look', args: {} } }] } };
    const answer = { author: 'agent', content: { parts: [{ functionResponse: { name: 'look', response: {} } }] } };
    await trimmed.fillUpTo(29);
    await trimmed.append(call);
    await trimmed.fillUpTo(39);
    await trimmed.append(call);
    await trimmed.rewind(35);
    await trimmed.fillUpTo(59);
    await trimmed.append(answer);
    await trimmed.fillUpTo(64);
    // The view begins at the user message before the call.
    expect((await trimmed.record()).firstSeq).toBe(29);
  });
});
