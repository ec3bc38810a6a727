import { type EventInput, InMemorySessionStorage, type LoggedEvent, SessionService } from '../../src/index.js';
import { CountingStorage } from '../support/counting-storage.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's' };
/** Nine events of 10 KB fit, with their metadata. */
const LIMITS = { maxViewBytes: 100_000 };
const LONG = 'x'.repeat(10_000);

const user = (text: string): EventInput => ({ author: 'user', content: { role: 'user', parts: [{ text }] } });
const agent = (text: string): EventInput => ({ author: 'agent', content: { role: 'model', parts: [{ text }] } });
const times = (count: number, event: EventInput): EventInput[] => Array.from({ length: count }, () => event);
const seqs = (events: readonly LoggedEvent[] = []): number[] => events.map(({ seq }) => seq);
const from = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe('views with a byte limit', () => {
  let counting: CountingStorage;
  let sessions: SessionService;

  beforeEach(async () => {
    counting = new CountingStorage(new InMemorySessionStorage());
    sessions = new SessionService({ storage: counting.storage, limits: LIMITS });
    await sessions.createSession(KEY);
  });

  afterEach(() => sessions.close());

  async function log(...events: readonly EventInput[]): Promise<void> {
    for (const event of events) await sessions.appendEvent({ session: SESSION, event });
    counting.taken();
  }

  async function read(config: object): Promise<unknown[]> {
    const session = await sessions.getSession({ ...KEY, config });
    return [seqs(session?.events), session?.eventsTruncated];
  }

  it('contain the newest events that fit, and set eventsTruncated', async () => {
    await log(...times(40, user(LONG)));
    const session = await sessions.getSession(KEY);
    expect(seqs(session?.events)).toEqual(from(32, 40));
    expect(session?.eventsTruncated).toBe(true);
    expect(session?.version).toBe(40);
    expect(session?.conversationCount).toBe(40);
  });

  it('do not set eventsTruncated if all events fit', async () => {
    await log(...times(9, user(LONG)));
    const session = await sessions.getSession(KEY);
    expect(seqs(session?.events)).toEqual(from(1, 9));
    expect(session && 'eventsTruncated' in session).toBe(false);
  });

  it('contain at least one event', async () => {
    await log(user('a'), user('x'.repeat(500_000)));
    expect(seqs((await sessions.getSession(KEY))?.events)).toEqual([2]);
  });

  it('begin at an anchor', async () => {
    await log(user('a'), ...times(20, agent(LONG)));
    expect(seqs((await sessions.getSession(KEY))?.events)).toEqual([1, ...from(13, 21)]);
  });

  it('reach back to the call of a tool response', async () => {
    const call = { functionCall: { id: 'c', name: 'look', args: {} } };
    const answer = { functionResponse: { id: 'c', name: 'look', response: { LONG } } };
    await log(
      user('a'),
      { author: 'agent', content: { role: 'model', parts: [call] } },
      ...times(3, agent(LONG)),
      { author: 'agent', content: { role: 'user', parts: [answer] } },
      ...times(8, agent(LONG)),
    );
    expect(seqs((await sessions.getSession(KEY))?.events)).toEqual(from(1, 14));
  });

  it('grow with appends through the session object', async () => {
    await log(...times(40, user(LONG)));
    const session = await sessions.getSession(KEY);
    if (session) await sessions.appendEvent({ session, event: user('more') });
    expect(seqs(session?.events)).toEqual(from(32, 41));
  });

  it('contain the requested events as far as they fit', async () => {
    await log(...times(40, user(LONG)));
    expect(await read({ numRecentEvents: 3 })).toEqual([from(38, 40), undefined]);
    expect(await read({ numRecentEvents: 20 })).toEqual([from(32, 40), true]);
    expect(await read({ afterSeq: 35 })).toEqual([from(36, 40), undefined]);
    expect(await read({ afterSeq: 10 })).toEqual([from(32, 40), true]);
    expect(await read({ afterSeq: 10, numRecentEvents: 4 })).toEqual([from(37, 40), undefined]);
    expect(await read({ numRecentEvents: 0 })).toEqual([[], undefined]);
  });

  it('do not count rewound events', async () => {
    await log(...times(8, user(LONG)), user('x'.repeat(90_000)));
    await sessions.rewindSession({ ...KEY, toSeq: 8 });
    const session = await sessions.getSession(KEY);
    expect(seqs(session?.events)).toEqual(from(1, 8));
    expect(session?.eventsTruncated).toBeUndefined();
  });

  it('are read in batches, so that large events are not all in memory', async () => {
    await log(...times(400, user(LONG)));
    await sessions.getSession(KEY);
    expect(counting.taken().events).toBeLessThanOrEqual(64);
  });

  it('stop reading at a limit if timestamps are older than the position in the log', async () => {
    const old = { ...user(LONG), timestamp: 1_700_000_000_000 };
    await log(
      { ...user('a'), timestamp: 1_800_000_000_000 },
      ...times(400, old),
      ...times(20, { ...old, ...agent('x') }),
    );
    await sessions.getSession({ ...KEY, config: { numRecentEvents: 20, afterTimestamp: 1_750_000_000_000 } });
    expect(counting.taken().events).toBeLessThanOrEqual(20 + 64 + 21);
  });

  it('of many small events contain all of them', async () => {
    await log(...times(500, user('x')));
    const session = await sessions.getSession(KEY);
    expect(seqs(session?.events)).toEqual(from(1, 500));
    expect(seqs((await sessions.getSession({ ...KEY, config: { numRecentEvents: 300 } }))?.events)).toEqual(
      from(201, 500),
    );
  });

  it('limit the results of a fork and a rewind', async () => {
    await log(...times(40, user(LONG)));
    const fork = await sessions.forkSession(KEY);
    expect(seqs(fork.events)).toEqual(from(32, 40));
    expect(fork.eventsTruncated).toBe(true);
    const rewound = await sessions.rewindSession({ ...KEY, toSeq: 30 });
    expect(seqs(rewound.events)).toEqual(from(22, 30));
  });

  it('apply together with maxEvents', async () => {
    await sessions.close();
    counting = new CountingStorage(new InMemorySessionStorage());
    sessions = new SessionService({ storage: counting.storage, limits: LIMITS, history: { maxEvents: 20 } });
    await sessions.createSession(KEY);
    await log(...times(40, user(LONG)));
    const session = await sessions.getSession(KEY);
    expect(seqs(session?.events)).toEqual(from(32, 40));
    expect(session?.eventsTruncated).toBe(true);
    if (session) await sessions.appendEvent({ session, event: user('more') });
    expect(seqs(session?.events)).toEqual(from(32, 41));
  });
});
