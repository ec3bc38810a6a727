import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type EventInput, InMemorySessionStorage, type Session, SessionService } from '../../src/index.js';

const KEY = { appName: 'shop', userId: 'ann' };
const TEXT = 'the order left the warehouse on time and the courier confirmed a delivery window '.repeat(10);

function eventOf(number: number): EventInput {
  return {
    id: `event-${number}`,
    author: number % 2 === 0 ? 'user' : 'agent',
    timestamp: 1_763_700_000_000 + number,
    content: { role: 'user', parts: [{ text: `${number}: ${TEXT}` }] },
    actions: { stateDelta: { step: number, stage: 'delivery' } },
    customMetadata: { model: 'm', trace: `trace-${number}` },
  };
}

/** How often JSON was written and parsed, and values were cloned, while `work` ran. */
async function jsonCalls(work: () => Promise<unknown>): Promise<{ written: number; parsed: number; cloned: number }> {
  const written = jest.spyOn(JSON, 'stringify');
  const parsed = jest.spyOn(JSON, 'parse');
  const cloned = jest.spyOn(globalThis, 'structuredClone');
  try {
    await work();
    return { written: written.mock.calls.length, parsed: parsed.mock.calls.length, cloned: cloned.mock.calls.length };
  } finally {
    for (const spy of [written, parsed, cloned]) spy.mockRestore();
  }
}

describe('the work of an append in memory', () => {
  let sessions: SessionService;
  let session: Session;

  beforeEach(async () => {
    sessions = new SessionService({ storage: new InMemorySessionStorage() });
    session = await sessions.createSession({ ...KEY, sessionId: 'one' });
  });

  afterEach(() => sessions.close());

  it('writes the event, its changes and their values once, parses nothing and computes no digest', async () => {
    const event = eventOf(1);
    expect(await jsonCalls(async () => sessions.appendEvent({ session, event }))).toEqual({
      written: 4,
      parsed: 0,
      cloned: 0,
    });
  });

  it('stays the same after many appends, except that checkpoints read each event once in the background', async () => {
    const events = Array.from({ length: 600 }, (_, number) => eventOf(number));
    const appends = async (): Promise<void> => {
      for (const event of events) await sessions.appendEvent({ session, event });
      await sessions.whenIdle();
    };
    const { written, parsed, cloned } = await jsonCalls(appends);
    expect(written).toBeLessThan(4 * events.length + 10);
    expect(parsed).toBeLessThan(events.length + 10);
    expect(cloned).toBe(0);
  });

  it('parses each event once when somebody looks at the events of the session', async () => {
    for (let number = 0; number < 10; number++) await sessions.appendEvent({ session, event: eventOf(number) });
    const look = async (): Promise<void> => void (session.events.length + session.events.length);
    expect(await jsonCalls(look)).toEqual({ written: 0, parsed: 10, cloned: 0 });
    const read = await sessions.getSession({ ...KEY, sessionId: 'one' });
    expect(session.events).toEqual(read?.events);
  });

  it('keeps an array up to date that somebody has looked at', async () => {
    const { events } = session;
    await sessions.appendEvent({ session, event: eventOf(1) });
    expect(events.map(({ id }) => id)).toEqual(['event-1']);
    expect(session.events).toBe(events);
  });

  it('reads a session without parsing its events', async () => {
    for (let number = 0; number < 100; number++) await sessions.appendEvent({ session, event: eventOf(number) });
    const config = { numRecentEvents: 20 };
    const read = async (): Promise<void> => void (await sessions.getSession({ ...KEY, sessionId: 'one', config }));
    expect((await jsonCalls(read)).parsed).toBeLessThan(10);
  });

  it('keeps the text of an event and little more', async () => {
    const count = 4_000;
    const bytes = JSON.stringify(eventOf(1)).length;
    const before = heapBytes();
    for (let number = 0; number < count; number++) {
      await sessions.appendEvent({ session: { ...KEY, id: 'one' }, event: eventOf(number) });
    }
    await sessions.whenIdle();
    expect((heapBytes() - before) / count).toBeLessThan(bytes * 1.8);
  });
});

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
