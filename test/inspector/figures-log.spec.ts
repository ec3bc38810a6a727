import { FiguresLog } from '../../inspector/src/figures-log.js';
import { InMemorySessionService, type LoggedEvent, type SessionService } from '../../src/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const EVENTS = 2_500;
const BATCH = 500;

describe('The figures of a log that grows', () => {
  let sessions: SessionService;
  let read: FiguresLog;
  /** What was asked for: the number before or after which, and how much. */
  let asked: (readonly [order: string, from: number | undefined, limit: number | undefined])[];
  /** What came live. */
  let live: Map<number, LoggedEvent>;
  /** Called before each answer. */
  let onRead: () => Promise<void>;

  beforeEach(async () => {
    sessions = new InMemorySessionService({ limits: { maxBatchEvents: BATCH } });
    await sessions.createSession(KEY);
    await append(EVENTS);
    asked = [];
    live = new Map();
    onRead = async () => undefined;
    const listEvents: ConstructorParameters<typeof FiguresLog>[0]['listEvents'] = async (request) => {
      await onRead();
      asked.push([request.order ?? 'asc', request.beforeSeq ?? request.afterSeq, request.limit]);
      return sessions.listEvents(request);
    };
    read = new FiguresLog({ listEvents }, { key: KEY, eventAt: (seq) => live.get(seq) }, () => undefined);
  });
  afterEach(() => sessions.close());

  async function append(count: number): Promise<void> {
    for (let first = 0; first < count; first += BATCH) {
      const session = { ...KEY, id: KEY.sessionId };
      const events = Array.from({ length: Math.min(BATCH, count - first) }, () => ({ author: 'user' }));
      await sessions.appendEvents({ session, events });
    }
  }

  const range = (): readonly [number | undefined, number | undefined, number] => {
    const { events } = read;
    return [events[0]?.seq, events.at(-1)?.seq, events.length];
  };

  it('are those of the newest 2,000 events, and of older ones when asked', async () => {
    await read.follow(EVENTS);
    expect([range(), read.isWhole]).toEqual([[501, EVENTS, 2_000], false]);
    await read.readOlder(2_000);
    expect([range(), read.isWhole]).toEqual([[1, EVENTS, EVENTS], true]);
    expect(asked).toEqual([
      ['desc', 2_501, 1_000],
      ['desc', 1_501, 1_000],
      ['desc', 501, 1_000],
    ]);
  });

  it('take what came live as it is, and read what did not', async () => {
    await read.follow(EVENTS);
    asked.length = 0;
    await append(1);
    live.set(2_501, (await sessions.listEvents({ ...KEY, afterSeq: EVENTS })).events[0] as LoggedEvent);
    await read.follow(2_501);
    expect([range(), asked]).toEqual([[501, 2_501, 2_001], []]);
    await append(3);
    await read.follow(2_504);
    expect([range(), asked]).toEqual([[501, 2_504, 2_004], [['asc', 2_501, 1_000]]]);
  });

  it('have what was appended while they were read', async () => {
    onRead = async () => {
      onRead = async () => undefined;
      await append(2);
      await read.follow(EVENTS + 2);
    };
    await read.follow(EVENTS);
    expect(range()).toEqual([501, EVENTS + 2, 2_002]);
  });

  it('begin again with a new session of the same id', async () => {
    await read.follow(EVENTS);
    await sessions.deleteSession(KEY);
    await sessions.createSession(KEY);
    await append(3);
    await read.follow(3);
    expect([range(), read.isWhole]).toEqual([[1, 3, 3], true]);
  });

  it('say why they cannot be read, and are read when they can', async () => {
    onRead = () => Promise.reject(new Error('no answer'));
    await read.follow(EVENTS);
    expect(read.failure).toMatchObject({ kind: 'failed', detail: 'no answer' });
    onRead = async () => undefined;
    await read.follow(EVENTS);
    expect([read.failure, read.events.length]).toEqual([undefined, 2_000]);
  });

  it('are read no further when the page is left', async () => {
    onRead = async () => read.close();
    await read.follow(EVENTS);
    expect(asked).toHaveLength(1);
  });
});
