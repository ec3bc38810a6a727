import { type EventInput, SessionService } from '../../src/index.js';
import { storageAt } from './support/open-vertex.js';
import { VertexServer } from './support/vertex-server.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1', id: 's-1' };

function said(id: string, stateDelta: Record<string, unknown> = {}): EventInput {
  return { id, author: 'user', content: { role: 'user', parts: [{ text: id }] }, actions: { stateDelta } };
}

describe('the log of a managed session', () => {
  let server: VertexServer;
  let closing: (() => Promise<void>)[];

  beforeEach(async () => {
    closing = [];
    server = await VertexServer.start();
  });

  afterEach(async () => {
    for (const close of closing) await close();
    await server.stop();
  });

  /** Another process: it shares nothing but the service. */
  function process(): SessionService {
    const storage = storageAt(server);
    closing.push(() => storage.close());
    return new SessionService({ storage });
  }

  async function withEvents(count: number): Promise<SessionService> {
    const sessions = process();
    await sessions.createSession(KEY);
    const events = Array.from({ length: count }, (_, index) => said(`e-${index + 1}`));
    for (let at = 0; at < count; at += 100)
      await sessions.appendEvents({ session: KEY, events: events.slice(at, at + 100) });
    server.takeRequests();
    return sessions;
  }

  function eventReads(): number {
    return server.takeRequests().filter((line) => line.includes('/events?')).length;
  }

  it('all pages are read, in their order', async () => {
    await withEvents(250);
    const read = await process().getSession(KEY);
    expect(read?.events.map(({ seq }) => seq)).toEqual(Array.from({ length: 250 }, (_, index) => index + 1));
    expect(read).toMatchObject({ version: 250, conversationCount: 250 });
    expect(eventReads()).toBe(3);
    const page = await process().listEvents({ ...KEY, afterSeq: 120, limit: 2 });
    expect(page.events.map(({ id }) => id)).toEqual(['e-121', 'e-122']);
  });

  it('the newest events are one page, with their numbers', async () => {
    await withEvents(250);
    const newest = await process().getSession({ ...KEY, config: { numRecentEvents: 2 } });
    expect(newest?.events.map(({ id, seq }) => [id, seq])).toEqual([
      ['e-249', 249],
      ['e-250', 250],
    ]);
    expect(eventReads()).toBe(1);
    const after = await process().getSession({ ...KEY, config: { afterSeq: 130 } });
    expect(after?.events.length).toBe(120);
    expect(after?.events[0]?.id).toBe('e-131');
  });

  it('a process that knows the log reads its newest page only', async () => {
    const sessions = await withEvents(250);
    await sessions.getSession(KEY);
    expect(eventReads()).toBe(1);
    await process().appendEvent({ session: KEY, event: said('from another process') });
    server.takeRequests();
    expect((await sessions.getSession(KEY))?.events.at(-1)).toMatchObject({ id: 'from another process', seq: 251 });
  });

  it('an event is stored as other programs of the service read it', async () => {
    const sessions = await withEvents(0);
    const event = {
      id: 'e-1',
      invocationId: 'i-1',
      author: 'clerk',
      branch: 'root.clerk',
      content: {
        role: 'model',
        parts: [{ functionCall: { id: 'c', name: 'find', args: { z: 1, a: [] } } }, { odd: 1 } as object],
      },
      actions: { stateDelta: { step: 2 }, transferToAgent: 'boss', requestedToolConfirmations: { c: {} } },
      usageMetadata: { totalTokenCount: 3 },
    };
    await sessions.appendEvent({ session: KEY, event });
    const [stored] = server.sessions[0]?.events ?? [];
    expect(stored).toMatchObject({
      author: 'clerk',
      invocationId: 'i-1',
      content: { role: 'model', parts: [{ functionCall: { id: 'c', name: 'find', args: { z: 1, a: [] } } }] },
      actions: { stateDelta: { step: 2 }, transferAgent: 'boss' },
      eventMetadata: { branch: 'root.clerk' },
      rawEvent: event,
    });
    const read = (await process().getSession(KEY))?.events[0];
    expect(read).toMatchObject(event);
    // The service keeps no order of keys, and the store does.
    expect(JSON.stringify(read?.content)).toBe(JSON.stringify(event.content));
    expect(server.sessions[0]?.sessionState.step).toBe(2);
  });

  it('events of other programs are numbered in their place, with what they changed', async () => {
    const sessions = await withEvents(2);
    const timestamp = new Date(Date.now() + 5).toISOString();
    const url = `${server.endpoint}/v1beta1/${server.sessions[0]?.name}:appendEvent`;
    const foreign = {
      author: 'clerk',
      invocationId: 'i-9',
      timestamp,
      content: { role: 'model', parts: [{ text: 'hello' }] },
      actions: { stateDelta: { found: true }, transferAgent: 'boss' },
      eventMetadata: { turnComplete: true },
    };
    const headers = { authorization: 'Bearer token-1' };
    expect((await fetch(url, { method: 'POST', headers, body: JSON.stringify(foreign) })).status).toBe(200);

    const read = await process().getSession(KEY);
    expect(read).toMatchObject({ version: 3, state: { found: true } });
    expect(read?.events[2]).toMatchObject({
      seq: 3,
      author: 'clerk',
      timestamp: Date.parse(timestamp),
      content: foreign.content,
      actions: { stateDelta: { found: true }, transferToAgent: 'boss' },
      turnComplete: true,
    });
    await sessions.appendEvent({ session: KEY, event: said('e-4') });
    expect((await process().getSession(KEY))?.events.map(({ id }) => id)).toEqual([
      'e-1',
      'e-2',
      read?.events[2]?.id,
      'e-4',
    ]);
  });

  it('two processes that write at once lose nothing, and number alike', async () => {
    const [a, b] = [await withEvents(0), process()];
    server.executeTogether(/:appendEvent/, 2);
    await Promise.all([
      ...['a1', 'a2', 'a3'].map((id) => a.appendEvent({ session: KEY, event: said(id, { [id]: id }) })),
      ...['b1', 'b2', 'b3'].map((id) => b.appendEvent({ session: KEY, event: said(id, { [id]: id }) })),
    ]);
    const reads = await Promise.all([a.getSession(KEY), b.getSession(KEY), process().getSession(KEY)]);
    for (const read of reads) {
      expect(read?.events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(read?.events.map(({ id }) => id)).toEqual(reads[0]?.events.map(({ id }) => id));
      expect(read).toMatchObject({
        version: 6,
        conversationCount: 6,
        state: { a1: 'a1', a3: 'a3', b1: 'b1', b3: 'b3' },
      });
    }
    await a.appendEvent({ session: KEY, event: said('last') });
    expect(await process().getSession(KEY)).toMatchObject({ version: 7, conversationCount: 7 });
  });

  it('the end of a log that two processes wrote at once has the numbers of the whole log', async () => {
    await server.stop();
    server = await VertexServer.start({ maxPage: 4 });
    const [a, b] = [await withEvents(6), process()];
    server.executeTogether(/:appendEvent/, 2);
    await Promise.all([a, b].map((one, index) => one.appendEvent({ session: KEY, event: said(`at once ${index}`) })));
    const newest = await process().getSession({ ...KEY, config: { numRecentEvents: 2 } });
    expect(newest).toMatchObject({ version: 8, conversationCount: 8 });
    expect(newest?.events.map(({ seq }) => seq)).toEqual([7, 8]);
  });

  it('a batch that was interrupted does not count, and can be repeated', async () => {
    const sessions = await withEvents(1);
    const batch = { session: KEY, events: [said('b-1', { half: true }), said('b-2', { whole: true })] };
    // The first half of the batch must be stored within it.
    const storage = storageAt(server, { timeLimitMs: 3_000 });
    closing.push(() => storage.close());
    const interrupted = new SessionService({ storage });
    server.faults.push({ on: /:appendEvent/, passes: 1, status: 503, times: 99 });
    await expect(interrupted.appendEvents(batch)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    server.faults.length = 0;
    expect(server.sessions[0]?.events).toHaveLength(2);

    const without = await process().getSession(KEY);
    expect(without).toMatchObject({ version: 1 });
    expect(without?.state).not.toHaveProperty('half');
    // What is left of the first try must not pass for an event of this one.
    server.faults.push({ on: /:appendEvent/, status: 503 });
    await sessions.appendEvents(batch);
    const read = await process().getSession(KEY);
    expect(read?.events.map(({ id, seq }) => [id, seq])).toEqual([
      ['e-1', 1],
      ['b-1', 2],
      ['b-2', 3],
    ]);
    expect(read).toMatchObject({ state: { half: true, whole: true } });
  });

  it('a repeated event is found in the whole log, and other content is a conflict', async () => {
    await withEvents(150);
    const sessions = process();
    expect(await sessions.append({ session: KEY, event: said('e-3') })).toMatchObject({
      duplicate: true,
      event: { seq: 3 },
    });
    await expect(sessions.appendEvent({ session: KEY, event: said('e-3', { other: 1 }) })).rejects.toMatchObject({
      code: 'EVENT_CONFLICT',
    });
    expect(server.sessions[0]?.events).toHaveLength(150);
  });

  it('a rewind and a fork have the state of their moment, also in another process', async () => {
    const sessions = process();
    await sessions.createSession({ ...KEY, state: { plan: 'free', kept: null } });
    await sessions.appendEvent({ session: KEY, event: said('e-1', { plan: 'paid' }) });
    await sessions.appendEvent({ session: KEY, event: { ...said('e-2'), actions: { stateRemovals: ['plan'] } } });
    expect((await process().getSession(KEY))?.state).not.toHaveProperty('plan');
    const [listed] = (await process().listSessions({ appName: 'shop', userId: 'ann' })).sessions;
    expect(listed?.state).toEqual({ kept: null });
    expect(listed?.version).toBe(2);

    const fork = await process().forkSession({ ...KEY, atSeq: 1, newSessionId: 'Fork 1' });
    expect(fork).toMatchObject({ id: 'Fork 1', state: { plan: 'paid', kept: null } });
    const rewound = await process().rewindSession({ ...KEY, toSeq: 0 });
    expect(rewound.state).toMatchObject({ plan: 'free', kept: null });
    expect((await process().getSession(KEY))?.events).toEqual([]);
    expect((await process().getSession({ ...KEY, sessionId: 'Fork 1' }))?.events.map(({ id }) => id)).toEqual(['e-1']);
  });

  it('values come back as they were', async () => {
    const values = {
      zero: 0,
      tiny: 5e-324,
      text: 'NUL \u0000 😀',
      empty: [[], {}],
      ['__proto__']: 1,
      'a "b"\\': [null],
    };
    const sessions = await withEvents(0);
    await sessions.appendEvent({ session: KEY, event: said('e-1', values) });
    const read = await process().getSession(KEY);
    expect(JSON.stringify(read?.events[0]?.actions.stateDelta)).toBe(JSON.stringify(values));
    expect(read?.state).toMatchObject({ zero: 0, tiny: 5e-324, text: 'NUL \u0000 😀', empty: [[], {}] });
  });
});
