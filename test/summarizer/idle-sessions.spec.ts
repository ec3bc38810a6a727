import { Logger } from '@nestjs/common';
import { allOf, anyOf, eventsOver, idleOver } from '../../src/summarizer/thresholds.js';
import { agendaNameOf } from '../../src/sessions/domain/background/agenda-names.js';
import { storeOfEachKind, testStores } from '../support/stores.js';
import { until } from '../support/until.js';
import { HeldModel } from './held-model.js';
import { eventsOf } from './log-notation.js';
import { KEY, ScriptedModel, SESSION, SummarizedSessions, turns, user } from './summarized-sessions.js';
import { rounds } from '../support/rounds.js';

const IDLE = { idleSeconds: 600, keepRecentEvents: 0 };
const SESSIONS = rounds(1_000);
const BATCH_SIZE = 50;

describe.each(storeOfEachKind)('idle sessions on $name', (store) => {
  let open: SummarizedSessions;
  afterEach(() => open.destroy());

  it('are summarised once, one millisecond after the idle time, by the first process that sweeps', async () => {
    open = await SummarizedSessions.open(store, IDLE);
    await open.append(...turns(1, 2));
    // No append waits for the entry of the agenda, and its time is that at which the store writes it.
    await open.settle();
    const other = open.restarted(IDLE);
    const sweepTwice = async (): Promise<number[]> => {
      const seen = [await other.summaries.sweep(), await open.summaries.sweep()];
      await Promise.all([open.settle(), other.settle()]);
      return seen;
    };
    open.clock.advanceSeconds(60);
    expect(await sweepTwice()).toEqual([1, 0]);
    open.clock.advanceSeconds(540);
    expect(await sweepTwice()).toEqual([0, 0]);
    expect(open.model.requests).toHaveLength(0);
    open.clock.advance(1);
    expect(await sweepTwice()).toEqual([1, 0]);
    expect(open.model.requests).toHaveLength(1);
    expect(await open.view()).toEqual(['= summary 1']);
    open.clock.advanceSeconds(600);
    expect(await sweepTwice()).toEqual([1, 0]);
    // The agenda is empty.
    expect(await open.storage.agenda.due(10)).toEqual([]);
    expect(open.model.requests).toHaveLength(1);
    await other.destroy();
  });

  it('are summarised once per idle period, without a cut in a long last turn', async () => {
    const idle = { ...IDLE, keepRecentEvents: 2 };
    open = await SummarizedSessions.open(store, idle);
    const other = open.restarted(idle);
    const sweepWhileIdle = async (): Promise<number> => {
      open.clock.advanceSeconds(601);
      for (const { summaries } of [open, other, open]) {
        await summaries.sweep();
        await summaries.whenIdle();
        open.clock.advanceSeconds(61);
      }
      return open.model.requests.length;
    };
    const longTurn = ['u', 'a', 'a', 'a', 'a'];
    await open.append(...turns(1, 2), ...eventsOf(longTurn.join(' ')));
    await open.settle();
    expect(await sweepWhileIdle()).toBe(1);
    expect(await open.view()).toEqual(['= summary 1', 'u0', 'a1', 'a2', 'a3', 'a4']);
    expect(await open.storage.agenda.due(10)).toEqual([]);
    // This process has just written the agenda entry, and measures the time since then with a clock that the test does
    // not move.
    await other.append(...turns(3, 4));
    await other.settle();
    expect(await sweepWhileIdle()).toBe(2);
    expect(await open.view()).toEqual(['= summary 2', 'q4', 'a4']);
    await other.destroy();
  });

  it('are swept by one instance at a time', async () => {
    const model = new HeldModel();
    open = await SummarizedSessions.open(store, IDLE, model);
    const others = Array.from({ length: 3 }, () => open.restarted(IDLE));
    for (let number = 0; number < 20; number++) await makeIdle(open, number);
    // The entries of the agenda are written in the background.
    await open.settle();
    open.clock.advanceSeconds(601);
    const seen = await Promise.all([open, ...others].map(({ summaries }) => summaries.sweep()));
    // An instance that sweeps later finds nothing.
    expect(seen.toSorted((a, b) => a - b)).toEqual([0, 0, 0, 20]);
    await until(() => {
      model.answer();
      return [open, ...others].every(({ summaries }) => summaries.counts.running === 0);
    });
    expect(model.requests).toHaveLength(20);
    for (const other of others) await other.destroy();
  });

  it('are checked at each of several idle times', async () => {
    const when = anyOf(allOf(idleOver(60), eventsOver(10)), idleOver(600.0005));
    open = await SummarizedSessions.open(store, { when, keepRecentEvents: 0 });
    await open.append(...turns(1, 2));
    await open.settle();
    for (const [seconds, summaries] of [
      [60, 0],
      [1, 0],
      [539, 0],
      [1, 1],
    ] as const) {
      open.clock.advanceSeconds(seconds);
      await open.summaries.sweep();
      await open.settle();
      expect(open.model.requests).toHaveLength(summaries);
    }
  });

  it('are found behind agenda entries of other users of the agenda, which stay', async () => {
    open = await SummarizedSessions.open(store, IDLE);
    const names = Array.from({ length: 250 }, (_, index) => `of somebody else ${index}`);
    await Promise.all(names.map((name) => open.storage.agenda.put(name, 0)));
    await makeIdle(open, 1);
    await makeIdle(open, 2);
    await open.settle();
    open.clock.advanceSeconds(601);
    expect(await open.summaries.sweep()).toBe(2);
    await open.settle();
    expect(open.model.requests).toHaveLength(2);
    const left = await open.storage.agenda.due(1_000);
    expect(left.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  });

  it('are summarised even if the check of another session fails', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    open = await SummarizedSessions.open(store, { ...IDLE, checkers: [broken], match: 'any' });
    const withBroken = open.restarted({ ...IDLE, when: anyOf(broken, idleOver(600)) });
    await open.sessions.createSession({ ...KEY, sessionId: 'two' });
    await open.storage.agenda.put(agendaNameOf(KEY), 0);
    await makeIdle(withBroken, 7);
    await withBroken.settle();
    await open.sessions.appendEvent({ session: SESSION, event: user('q') });
    // The session is on the agenda for what is now.
    await open.settle();
    open.clock.advanceSeconds(601);
    expect(await withBroken.summaries.sweep()).toBe(2);
    await withBroken.settle();
    expect(open.model.requests).toHaveLength(1);
    // The failed check is repeated later.
    expect(await open.storage.agenda.due(10)).toEqual([]);
    open.clock.advanceSeconds(61);
    expect((await open.storage.agenda.due(10)).map(({ name }) => name)).toContain(agendaNameOf(KEY));
    await withBroken.destroy();
    warn.mockRestore();
  });
});

const bulkStores = testStores.filter(({ name }) => name === 'memory' || name === 'redis');

describe.each(bulkStores.length > 0 ? bulkStores : testStores.slice(0, 1))('many idle sessions on $name', (store) => {
  it(`are summarised in batches, once each, with limited concurrency (${SESSIONS} sessions)`, async () => {
    let [working, maxWorking] = [0, 0];
    const model = new ScriptedModel(async () => {
      maxWorking = Math.max(maxWorking, ++working);
      await new Promise((resolve) => setImmediate(resolve));
      working--;
      return { text: 'in short' };
    });
    const open = await SummarizedSessions.open(store, { ...IDLE, concurrency: 4 }, model);
    for (let from = 0; from < SESSIONS; from += BATCH_SIZE) {
      await Promise.all(Array.from({ length: BATCH_SIZE }, (_, index) => makeIdle(open, from + index)));
    }
    await open.settle();
    const due = jest.spyOn(open.storage.agenda, 'due');
    open.clock.advanceSeconds(601);
    expect(await open.summaries.sweep()).toBe(SESSIONS);
    for (const [limit] of due.mock.calls) expect(limit).toBeLessThanOrEqual(100);
    expect(due.mock.calls.length).toBeGreaterThanOrEqual(SESSIONS / 100);
    await open.settle();
    expect(model.requests).toHaveLength(SESSIONS);
    expect(maxWorking).toBeLessThanOrEqual(4);
    expect(open.summaries.counts).toEqual({ running: 0, waiting: 0, stored: SESSIONS, failed: 0 });
    open.clock.advanceSeconds(601);
    await open.summaries.sweep();
    expect(await open.storage.agenda.due(10)).toEqual([]);
    expect(model.requests).toHaveLength(SESSIONS);
    await open.destroy();
  });
});

/** Creates a session with one turn. */
async function makeIdle({ sessions }: SummarizedSessions, number: number): Promise<void> {
  const session = await sessions.createSession({ ...KEY, sessionId: `idle-${number}` });
  for (const event of turns(1, 1)) await sessions.appendEvent({ session, event });
}

function broken({ key }: { key: { sessionId: string } }): boolean {
  if (key.sessionId === 'one') throw new Error('the condition is broken');
  return false;
}
