import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { InMemorySessionStorage, type Session, SessionService } from '../../src/index.js';
import { KEY, eventOf } from './agent-events.js';

const BOOTSTRAP = join(__dirname, '../support/processes/bootstrap.cjs');
const ALLOCATIONS = join(__dirname, 'append-allocations.ts');

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

/** Bytes for each append. Node 24 and later need a quarter more for the same objects. */
const MOST_ALLOCATED = Number(process.versions.node.split('.')[0]) < 24 ? 18_000 : 24_000;

describe('the work of an append in memory', () => {
  let sessions: SessionService;
  let session: Session;

  beforeEach(async () => {
    sessions = new SessionService({ storage: new InMemorySessionStorage() });
    session = await sessions.createSession({ ...KEY, sessionId: 'one' });
  });

  afterEach(() => sessions.close());

  it('writes no text but of values that are no numbers, parses nothing and computes no digest', async () => {
    const event = eventOf(1);
    expect(await jsonCalls(async () => sessions.appendEvent({ session, event }))).toEqual({
      written: 1,
      parsed: 0,
      cloned: 0,
    });
  });

  it('stays the same after many appends, with checkpoints in the background, which read no event', async () => {
    const events = Array.from({ length: 600 }, (_, number) => eventOf(number));
    const appends = async (): Promise<void> => {
      for (const event of events) await sessions.appendEvent({ session, event });
      await sessions.whenIdle();
    };
    const { written, parsed, cloned } = await jsonCalls(appends);
    expect(written).toBeLessThan(events.length + 10);
    expect(parsed).toBeLessThan(10);
    expect(cloned).toBe(0);
  });

  it('copies each event once when somebody looks at the events of the session, and parses none', async () => {
    for (let number = 0; number < 10; number++) await sessions.appendEvent({ session, event: eventOf(number) });
    const look = async (): Promise<void> => void (session.events.length + session.events.length);
    expect(await jsonCalls(look)).toEqual({ written: 0, parsed: 0, cloned: 0 });
    expect(session.events[3]).toBe(session.events[3]);
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

  it('gives back the memory of deleted sessions, also if others have events in between', async () => {
    const others = await Promise.all(
      Array.from({ length: 20 }, (_, number) => sessions.createSession({ ...KEY, sessionId: `other-${number}` })),
    );
    const before = keptBytes();
    for (let number = 0; number < 200; number++) {
      await sessions.appendEvent({ session: { ...KEY, id: 'one' }, event: eventOf(number) });
      for (const { id } of others) await sessions.appendEvent({ session: { ...KEY, id }, event: eventOf(number) });
    }
    const filled = keptBytes();
    for (const { id } of others) await sessions.deleteSession({ ...KEY, sessionId: id });
    const { events } = await sessions.listEvents({ ...KEY, sessionId: 'one', limit: 200 });
    expect(events).toHaveLength(200);
    expect(events[199]).toMatchObject(eventOf(199));
    expect(keptBytes() - before).toBeLessThan((filled - before) / 3);
  });

  it('allocates a bounded amount', async () => {
    // What else runs in this process, and how long ago it began, decides how much of the code is compiled.
    const { stdout } = await promisify(execFile)(process.execPath, [BOOTSTRAP, ALLOCATIONS]);
    // An event has 1,100 bytes here. Before appends were made lean, it was more than 21,000.
    expect(Number(stdout)).toBeLessThan(MOST_ALLOCATED);
    expect(Number(stdout)).toBeGreaterThan(1_000);
  });
});

function keptBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}
