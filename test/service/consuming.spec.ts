import { setImmediate } from 'node:timers/promises';
import { type ConsumedEvent, type DeadLetter, SessionService } from '../../src/index.js';
import { settingsText } from '../../src/sessions/consumers/consumer-settings.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { ConsumedEvents } from '../support/consumed-events.js';
import { holding } from '../support/holding.js';
import { storeOfEachKind } from '../support/stores.js';
import { until } from '../support/until.js';

const USER = { appName: 'shop', userId: 'ann' };
const FAILS = new Error('No mail server');

describe.each(storeOfEachKind)('durable consumers over $name', ({ open }) => {
  let clock: ManualClock;
  let opened: OpenStorage;
  let sessions: SessionService;
  let failures: unknown[];

  beforeEach(async () => {
    clock = new ManualClock();
    opened = await open({ clock });
    failures = [];
    sessions = serviceOver();
  });

  afterEach(async () => {
    await sessions.finish();
    await opened.destroy();
    expect(failures).toEqual([]);
  });

  function serviceOver(storage = opened.storage): SessionService {
    return new SessionService({
      storage,
      clock,
      onBackgroundError: (error) => failures.push(error),
    });
  }

  async function append(sessionId: string, ids: readonly string[], appName = USER.appName): Promise<void> {
    const key = { ...USER, appName, sessionId };
    await sessions.getOrCreateSession(key);
    const events = ids.map((id) => ({ id, author: 'agent' }));
    await sessions.appendEvents({ session: { ...USER, appName, id: sessionId }, events });
  }

  /** Waits until nothing is left to do. */
  async function untilIdle(name = 'mail'): Promise<void> {
    await until(async () => {
      const lag = await sessions.consumers.lag(name);
      return lag?.sessions === 0 && lag.undispatched === 0;
    });
  }

  it('get each event of their apps once, in order within a session, also what came while none ran', async () => {
    const mail = await ConsumedEvents.of(sessions, { apps: ['shop'] });
    const all = await ConsumedEvents.of(sessions, { name: 'all' });
    await append('a', ['a1', 'a2']);
    await append('b', ['b1']);
    await append('x', ['x1'], 'other');
    await append('a', ['a3']);
    await all.untilThereAre(5);
    await mail.untilThereAre(4);
    await mail.stop();
    await append('a', ['a4', 'a5']);
    await all.untilThereAre(7);
    const again = await ConsumedEvents.of(sessions, { apps: ['shop'] });
    await again.untilThereAre(2);
    await untilIdle();
    expect([mail.idsOf('a'), mail.idsOf('b'), mail.idsOf('x')]).toEqual([['a1', 'a2', 'a3'], ['b1'], []]);
    expect([again.idsOf('a'), again.events.length]).toEqual([['a4', 'a5'], 2]);
    expect([all.idsOf('a'), all.idsOf('x')]).toEqual([['a1', 'a2', 'a3', 'a4', 'a5'], ['x1']]);
    const keys = all.events.map(({ idempotencyKey }) => idempotencyKey);
    expect(new Set(keys).size).toBe(7);
    expect(again.events.map(({ idempotencyKey }) => idempotencyKey)).toEqual(keys.slice(-2));
  });

  it('begin with the first event, or with what follows their registration', async () => {
    await append('a', ['a1', 'a2']);
    await append('b', ['b1'], 'other');
    clock.advance(1);
    const first = await ConsumedEvents.of(sessions, { name: 'first' });
    clock.advance(1);
    await append('a', ['a3']);
    await first.untilThereAre(1);
    await first.stop();
    clock.advance(1);
    await append('a', ['a4']);
    clock.advance(1);
    const now = await ConsumedEvents.of(sessions, { name: 'now' });
    const start = await ConsumedEvents.of(sessions, { name: 'start', from: 'start' });
    await append('a', ['a5']);
    await now.untilThereAre(1);
    await start.untilThereAre(6);
    await untilIdle('start');
    await untilIdle('now');
    expect([first.idsOf('a'), now.idsOf('a')]).toEqual([['a3'], ['a5']]);
    expect([start.idsOf('a'), start.idsOf('b')]).toEqual([['a1', 'a2', 'a3', 'a4', 'a5'], ['b1']]);
    expect(now.events).toHaveLength(1);
    await until(async () => (await sessions.consumers.list()).every(({ isFilling }) => !isFilling));
  });

  it('say while they are filled that they are, and count what changed meanwhile', async () => {
    const mail = await ConsumedEvents.of(sessions);
    await append('a', ['a1']);
    await mail.untilThereAre(1);
    await mail.stop();
    // No process dispatches: the fill does not begin.
    const settings = settingsText({ from: 'start', fill: {} });
    await opened.storage.consumers.register('fresh', settings);
    clock.advance(1_000);
    const empty = { sessions: 0, undispatched: 0, oldestWaitMs: 1_000, deadLetters: 0, isFilling: true };
    expect(await sessions.consumers.lag('fresh')).toEqual(empty);
    await append('b', ['b1']);
    expect(await sessions.consumers.lag('fresh')).toEqual({ ...empty, undispatched: 1 });
    const fresh = await ConsumedEvents.of(sessions, { name: 'fresh', from: 'start' });
    await fresh.untilThereAre(2);
    await untilIdle('fresh');
    await until(async () => (await sessions.consumers.lag('fresh'))?.isFilling === false);
  });

  it('try a failing event again after growing pauses, and block only its session', async () => {
    const attempts: number[] = [];
    const options = { firstRetryMs: 1_000, maxRetryMs: 60_000 };
    const mail = await ConsumedEvents.of(sessions, options, ({ event, attempt }) => {
      if (event.id !== 'a2') return;
      attempts.push(attempt);
      if (attempt < 3) throw FAILS;
    });
    await append('a', ['a1', 'a2', 'a3']);
    await append('b', ['b1', 'b2']);
    await mail.untilThereAre(3);
    await until(async () => failures.length === 1);
    expect([mail.idsOf('a'), mail.idsOf('b')]).toEqual([['a1'], ['b1', 'b2']]);
    clock.advance(1_000);
    await until(() => failures.length === 2);
    expect(mail.idsOf('a')).toEqual(['a1']);
    clock.advance(2_000);
    await mail.untilThereAre(5);
    expect([mail.idsOf('a'), attempts]).toEqual([
      ['a1', 'a2', 'a3'],
      [1, 2, 3],
    ]);
    expect(failures.splice(0)).toMatchObject([{ cause: FAILS }, { cause: FAILS }]);
  });

  it('give an event up after so many tries; it can be tried again or dropped', async () => {
    let isBroken = true;
    const mail = await ConsumedEvents.of(sessions, { maxTries: 2, firstRetryMs: 0 }, ({ event }) => {
      if (isBroken && event.id !== 'a2') throw FAILS;
    });
    await append('a', ['a1', 'a2', 'a3']);
    const letters = async (): Promise<DeadLetter[]> => sessions.consumers.deadLetters({ consumer: 'mail' });
    await until(async () => (await letters()).length === 2);
    expect(mail.idsOf('a')).toEqual(['a2']);
    const dead = (await letters()).toSorted((a, b) => a.seq - b.seq);
    const letter = { consumer: 'mail', ...USER, sessionId: 'a', tries: 2, problem: 'No mail server' };
    expect(dead).toMatchObject([
      { ...letter, seq: 1 },
      { ...letter, seq: 3 },
    ]);
    expect(await sessions.consumers.lag('mail')).toMatchObject({ sessions: 0, deadLetters: 2, oldestWaitMs: 0 });
    isBroken = false;
    expect(dead[0] && (await sessions.consumers.retry(dead[0]))).toBe(true);
    expect(dead[1] && (await sessions.consumers.drop(dead[1]))).toBe(true);
    await mail.untilThereAre(2);
    await untilIdle();
    expect([mail.idsOf('a'), await letters()]).toEqual([['a2', 'a1'], []]);
    expect(failures.splice(0)).toHaveLength(4);
  });

  it('list dead letters behind those of sessions that are gone', async () => {
    const mail = await ConsumedEvents.of(sessions, { maxTries: 1 }, () => {
      throw FAILS;
    });
    for (const name of ['a', 'b', 'c']) {
      await append(name, [`${name}1`]);
      await until(async () => (await sessions.consumers.lag('mail'))?.deadLetters === 'abc'.indexOf(name) + 1);
    }
    await mail.stop();
    const first = await sessions.consumers.deadLetters({ consumer: 'mail', limit: 1 });
    await sessions.deleteSession({ ...USER, sessionId: first[0]?.sessionId ?? '' });
    const next = await sessions.consumers.deadLetters({ consumer: 'mail', limit: 1 });
    expect(next).toHaveLength(1);
    expect(next).not.toEqual(first);
    expect(await sessions.consumers.lag('mail')).toMatchObject({ deadLetters: 2 });
    expect(failures.splice(0)).toHaveLength(3);
  });

  it('follow the last list of apps, whatever their names', async () => {
    for (const names of [['a', 'b'], ['a,b'], undefined, ['undefined']]) {
      const consumer = await sessions.consume({ name: 'mail', apps: names, handler: () => undefined });
      expect((await sessions.consumers.list()).map(({ apps }) => apps)).toEqual([names]);
      await consumer.stop();
    }
  });

  it('let a session that cannot be read block no other one, however often', async () => {
    const { held, release } = holding();
    let isBroken = true;
    const storage = new Proxy(opened.storage, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (name !== 'read') return typeof value === 'function' ? value.bind(target) : value;
        return async (request: Parameters<typeof target.read>[0]) => {
          if (isBroken && request.key.sessionId === 'bad') throw FAILS;
          return target.read(request);
        };
      },
    });
    const broken = serviceOver(storage);
    const slow = await ConsumedEvents.of(broken, { name: 'slow', apps: ['slow'], leaseMs: 3_600_000 }, () => held);
    const mail = await ConsumedEvents.of(broken, { apps: [USER.appName], leaseMs: 30_000 });
    await append('long', ['l1'], 'slow');
    await append('bad', ['b1']);
    for (let times = 1; times <= 4; times++) {
      await until(() => failures.length === times);
      await append(`good-${times}`, ['g1']);
      await mail.untilThereAre(times);
      clock.advance(30_000);
    }
    isBroken = false;
    clock.advance(30_000);
    await mail.untilThereAre(5);
    release();
    await slow.stop();
    await broken.finish();
    const said = failures.splice(0) as Error[];
    expect(said).toHaveLength(4);
    for (const [index, { message, cause }] of said.entries()) {
      expect(message).toMatch(
        new RegExp(`^Consumer "mail" failed to read after event 0 of session "bad": try ${index + 2} in \\d+ ms$`),
      );
      expect(cause).toBe(FAILS);
    }
  });

  it('share the work of one name between instances, each event with one of them, within their concurrency', async () => {
    const other = serviceOver();
    const slow = { concurrency: 2 };
    const order: { sessionId: string; seq: number }[] = [];
    const busy = new Set<string>();
    const handle = async ({ key: { sessionId }, event }: ConsumedEvent): Promise<void> => {
      expect(busy).not.toContain(sessionId);
      busy.add(sessionId);
      order.push({ sessionId, seq: event.seq });
      await setImmediate();
      busy.delete(sessionId);
    };
    const instances = [await ConsumedEvents.of(sessions, slow, handle), await ConsumedEvents.of(other, slow, handle)];
    const names = Array.from({ length: 6 }, (_, index) => `s${index}`);
    for (const event of ['1', '2', '3']) {
      await Promise.all(names.map((name) => append(name, [`${name}-${event}a`, `${name}-${event}b`])));
    }
    await until(() => order.length === 36);
    await untilIdle();
    for (const name of names) {
      expect(order.filter(({ sessionId }) => sessionId === name).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
    }
    for (const { mostAtOnce } of instances) expect(mostAtOnce).toBeLessThanOrEqual(2);
    await other.finish();
  });

  it('skip what is gone: deleted and trimmed events', async () => {
    const mail = await ConsumedEvents.of(sessions, { maxTries: 1 }, ({ event }) => {
      if (event.id === 'a1') throw FAILS;
    });
    await append('a', ['a1']);
    await until(() => failures.length === 1);
    await untilIdle();
    await mail.stop();
    await append('a', ['a2']);
    await append('b', ['b1']);
    const { incarnation } = (await opened.storage.read({ key: { ...USER, sessionId: 'b' } }))?.record ?? {};
    const trim = { firstSeq: 1, marksSeq: 0, newFirstSeq: 2, digests: ['d'], baseState: '{}' };
    await opened.storage.trim({ key: { ...USER, sessionId: 'b' }, incarnation: incarnation ?? '', ...trim });
    await append('c', ['c1', 'c2']);
    await sessions.deleteSession({ ...USER, sessionId: 'a' });
    await append('a', ['new']);
    const again = await ConsumedEvents.of(sessions);
    await again.untilThereAre(3);
    await untilIdle();
    expect(['a', 'b', 'c'].map((name) => again.idsOf(name))).toEqual([['new'], [], ['c1', 'c2']]);
    expect(await sessions.consumers.deadLetters({ consumer: 'mail' })).toEqual([]);
    expect(failures.splice(0)).toHaveLength(1);
  });

  it('finish running handlers at the end, and leave the rest to others', async () => {
    const { held, release } = holding();
    let isRunning = false;
    const mail = await ConsumedEvents.of(sessions, {}, async () => {
      isRunning = true;
      await held;
    });
    await append('a', ['a1', 'a2']);
    await until(() => isRunning);
    const lag = await sessions.consumers.lag('mail');
    expect(lag).toMatchObject({ sessions: 1 });
    const closing = sessions.finish();
    release();
    await closing;
    expect(mail.idsOf('a')).toEqual(['a1']);
    await expect(sessions.consume({ name: 'mail', handler: () => undefined })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
    sessions = serviceOver();
    const next = await ConsumedEvents.of(sessions);
    await next.untilThereAre(1);
    expect(next.events.map(({ event, attempt }) => [event.id, attempt])).toEqual([['a2', 1]]);
  });
});
