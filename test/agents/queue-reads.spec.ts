import { type QueueEntry, type QueuedMessage, queueEvent } from '../../src/agents/turn/control-events.js';
import { lastInvocation, showsLastInvocation } from '../../src/agents/invocation/last-invocation.js';
import { type QueueMember, queueWatchIn, queueWatchOf } from '../../src/agents/ask/queue-watch.js';
import { readNewestUntil, readQueue } from '../../src/agents/ask/queue.js';
import { findEventOf, storedInvocation } from '../../src/agents/turn/stored-invocation.js';
import { type EventInput, type LoggedEvent, InMemorySessionStorage, SessionService } from '../../src/index.js';
import type { ReadRequest, SessionStorage, StoredSession } from '../../src/storage.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { rounds } from '../support/rounds.js';
import { storeOfEachKind } from '../support/stores.js';
import { until } from '../support/until.js';
import { AgentApp, KEY, SESSION } from './support/agent-app.js';
import { HeldHandler, call, response, text } from './support/handlers.js';

const WAITING: QueuedMessage = { policy: 'enqueue', message: { role: 'user', parts: [{ text: 'hi' }] } };
/** The events of a batch. */
const BATCH = 100;

/** Counts the reads of a store, and the events that they return. */
class CountedReads {
  calls = 0;
  events = 0;
  readonly storage: SessionStorage;

  /** @param find whether the store finds events of groups */
  constructor({ find }: { readonly find: boolean }) {
    this.storage = new Proxy(new InMemorySessionStorage(), {
      get: (target, name) => {
        if (name === 'read') return (request: ReadRequest) => this.#read(target, find, request);
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  }

  async #read(storage: SessionStorage, find: boolean, request: ReadRequest): Promise<StoredSession | undefined> {
    const stored = await storage.read(find ? request : { ...request, find: undefined });
    this.calls += 1;
    this.events += stored?.events.length ?? 0;
    return stored;
  }
}

const waiting = ['i-1', 'i-2'];

/** A waiting message that notes the events that it is told. */
class Noticing implements QueueMember {
  readonly seqs: number[] = [];

  constructor(readonly entry: QueueEntry) {}

  notice({ seq }: LoggedEvent): void {
    this.seqs.push(seq);
  }

  noticeEnd(): void {}
}

/** Two messages wait for this many events. */
async function readAfter(events: number, { find = true } = {}) {
  const reads = new CountedReads({ find });
  const { storage } = reads;
  const sessions = new SessionService({ storage });
  await sessions.createSession(KEY);
  for (const id of waiting) {
    await sessions.appendEvents({ session: SESSION, events: [queueEvent(id, KEY.sessionId, WAITING)] });
  }
  for (let left = events; left > 0; left -= BATCH) {
    const batch = Array.from({ length: Math.min(left, BATCH) }, () => ({ author: 'system' }));
    await sessions.appendEvents({ session: SESSION, events: batch });
  }
  // Checkpoints are written in the background.
  await sessions.whenIdle();
  reads.calls = 0;
  reads.events = 0;
  const queue = await readQueue({ sessions, storage }, KEY, new Set(waiting));
  expect(queue).toMatchObject(waiting.map((invocationId, index) => ({ ...WAITING, invocationId, seq: index + 1 })));
  return { calls: reads.calls, events: reads.events };
}

describe('the queue of a session', () => {
  it('is read with one page while its messages are among the newest events', async () => {
    expect(await readAfter(50)).toEqual({ calls: 1, events: 52 });
  });

  it('is read with the same calls however many events came after its messages', async () => {
    const reads = { calls: 5, events: 102 };
    expect([await readAfter(1_000), await readAfter(10_000)]).toEqual([reads, reads]);
  });

  it('is read from a store that finds no events of groups', async () => {
    await readAfter(1_000, { find: false });
  });

  it('lacks messages that were trimmed with their history', async () => {
    const { storage } = new CountedReads({ find: true });
    const sessions = new SessionService({ storage, history: { maxEvents: 1, keepHistory: false } });
    await sessions.createSession(KEY);
    await sessions.appendEvents({ session: SESSION, events: [queueEvent('i-1', KEY.sessionId, WAITING)] });
    for (let count = 0; count < 3; count++) {
      const batch = Array.from({ length: BATCH }, () => ({ author: 'user', content: WAITING.message }));
      await sessions.appendEvents({ session: SESSION, events: batch });
    }
    await sessions.whenIdle();
    expect((await sessions.listEvents(KEY)).firstSeq).toBeGreaterThan(1);
    expect(await readQueue({ sessions, storage }, KEY, new Set(['i-1']))).toEqual([]);
  });
});

const own = (id: string): EventInput => ({ id, author: 'agent', invocationId: 'i-1' });

/** An invocation asks, others follow, a rewind in the middle takes half of them back, and it is answered. */
async function readOver(events: number, { find = true } = {}) {
  const reads = new CountedReads({ find });
  const { storage } = reads;
  const sessions = new SessionService({ storage });
  await sessions.createSession(KEY);
  const others = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left -= BATCH) {
      const batch = Array.from({ length: Math.min(left, BATCH) }, () => ({ author: 'user', invocationId: 'i-2' }));
      await sessions.appendEvents({ session: SESSION, events: batch });
    }
  };
  await sessions.appendEvents({ session: SESSION, events: [own('message:i-1'), own('question')] });
  await others(events / 2);
  await sessions.rewindSession({ ...KEY, toSeq: 2 });
  await others(events / 2);
  await sessions.appendEvents({ session: SESSION, events: [own('answer')] });
  await sessions.whenIdle();
  reads.calls = 0;
  reads.events = 0;
  const stored = await storedInvocation({ sessions, storage }, KEY, 1);
  expect(stored.message?.id).toBe('message:i-1');
  expect(stored.events.map(({ id }) => id)).toEqual(['question', 'answer']);
  expect(stored.rewound).toEqual([{ from: 3, to: events / 2 + 3 }]);
  expect(await findEventOf({ sessions, storage }, KEY, 'i-1', 'answer')).toMatchObject({ id: 'answer' });
  expect(await findEventOf({ sessions, storage }, KEY, 'i-1', 'none')).toBeUndefined();
  expect(await findEventOf({ sessions, storage }, KEY, 'i-3', 'none')).toBeUndefined();
  return { calls: reads.calls, events: reads.events };
}

describe('an invocation whose log went on', () => {
  it('is read with the same calls however long it went on', async () => {
    const short = await readOver(1_000);
    expect(short.calls).toBeLessThan(25);
    expect(short.events).toBeLessThan(800);
    expect(await readOver(8_000)).toEqual(short);
  });

  it('is read from a store that finds no events of groups', async () => {
    await readOver(1_000, { find: false });
  });
});

const invocation = (index: number): EventInput[] => [
  { id: `message:i-${index}`, invocationId: `i-${index}`, author: 'user' },
  { invocationId: `i-${index}`, author: 'agent' },
];

describe('the end of the last invocation', () => {
  it.each([40, 4_000])('is found with one short page in a log of %i events', async (length) => {
    const reads = new CountedReads({ find: true });
    const sessions = new SessionService({ storage: reads.storage });
    await sessions.createSession(KEY);
    for (let index = 0; index < length / 2; index++) {
      await sessions.appendEvents({ session: SESSION, events: invocation(index) });
    }
    await sessions.whenIdle();
    reads.calls = 0;
    reads.events = 0;
    const newest = await readNewestUntil(sessions, KEY, showsLastInvocation);
    expect(lastInvocation(newest)?.invocationId).toBe(`i-${length / 2 - 1}`);
    expect({ calls: reads.calls, events: reads.events }).toEqual({ calls: 1, events: 20 });
  });
});

const MESSAGES = rounds(80);
const TOOL_CALLS = 4;
/** Of an answer: the message, calls, responses, and the text. */
const EVENTS = 2 * TOOL_CALLS + 2;

describe('the watch that waiting messages share', () => {
  it('tells each the events after its own, also those that others saw before it joined', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    await sessions.createSession(KEY);
    for (const id of waiting) {
      await sessions.appendEvents({ session: SESSION, events: [queueEvent(id, KEY.sessionId, WAITING)] });
    }
    await sessions.appendEvents({ session: SESSION, events: [{ author: 'system' }, { author: 'system' }] });
    const [first, second] = waiting.map(
      (invocationId, index) => new Noticing({ ...WAITING, invocationId, seq: index + 1 }),
    );
    const watch = queueWatchOf(sessions, KEY);
    watch.join(first as Noticing);
    await until(() => first?.seqs.length === 3);
    queueWatchOf(sessions, KEY).join(second as Noticing);
    await until(() => second?.seqs.length === 2);
    await sessions.appendEvents({ session: SESSION, events: [{ author: 'system' }] });
    await until(() => second?.seqs.length === 3);
    expect([first?.seqs, second?.seqs]).toEqual([
      [2, 3, 4, 5],
      [3, 4, 5],
    ]);
    for (const member of [first, second]) watch.leave(member as Noticing);
    expect(queueWatchIn(sessions, KEY)).toBeUndefined();
    await sessions.close();
  });
});

describe.each(storeOfEachKind)('messages that wait in a $name store', ({ open }) => {
  let opened: OpenStorage;
  let app: AgentApp;
  let reads = 0;

  beforeEach(async () => {
    opened = await open({});
    const counting = new Proxy(opened.storage, {
      get(target, name) {
        if (name === 'read') reads += 1;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    app = new AgentApp(counting, { pollMs: 1_000, graceMs: 5_000 });
  });

  afterEach(async () => {
    await app.close();
    await opened.destroy();
  });

  it('take few reads for each answer, however many of them wait', async () => {
    const held = new HeldHandler();
    const first = app.agents.run({ ...KEY, newMessage: 'first' }, held.handler);
    await held.started;
    // The newest page of the log soon holds few of them.
    const enqueued = Array.from({ length: MESSAGES }, (_, index) =>
      app.agents.run({ ...KEY, newMessage: `message ${index}`, policy: 'enqueue' }, async function* () {
        for (let count = 0; count < TOOL_CALLS; count++) {
          yield call(`c-${count}`);
          yield response(`c-${count}`);
        }
        yield text('done');
      }),
    );
    await until(async () => (await app.sessions.getSession(KEY))?.version === 1 + MESSAGES);
    await app.sessions.whenIdle();
    reads = 0;
    held.release();
    const results = await Promise.all([first, ...enqueued].map(({ result }) => result));
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['completed']));
    // The watch that all of them share reads once or twice for an event.
    expect(reads / MESSAGES).toBeLessThan(2 * EVENTS + 4);
  });
});
