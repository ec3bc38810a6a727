import { SessionService } from '../../src/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { ManualClock } from '../../src/testing/index.js';
import {
  type SkippedSession,
  adkSessions,
  exportSessions,
  importRecords,
  importSessions,
  verifySessions,
} from '../../src/transfer/index.js';
import { firstStore } from '../support/stores.js';
import { sqliteOf } from './sqlite-of.js';
import { comparable, filledStore, importLines, linesOf, text, USER } from './support.js';

const LONG = { appName: 'shop', userId: 'ann', sessionId: 'long' };
const NEXT = { ...LONG, sessionId: 'next' };
const EVENTS = 1_300;

type Read = SessionStorage['read'];

describe.each(firstStore)('an export from $name', ({ open }) => {
  let storage: SessionStorage;
  let sessions: SessionService;
  let target: SessionStorage;
  let clock: ManualClock;
  const ends: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    clock = new ManualClock();
    for (const use of [(opened: SessionStorage) => (storage = opened), (opened: SessionStorage) => (target = opened)]) {
      const { storage: opened, destroy } = await open({ clock });
      use(opened);
      ends.push(destroy);
    }
    sessions = new SessionService({ storage, clock });
    const session = await sessions.createSession(LONG);
    const events = Array.from({ length: EVENTS }, (_, n) => ({ id: `e-${n}`, author: 'user', content: text(`${n}`) }));
    for (let at = 0; at < EVENTS; at += 100)
      await sessions.appendEvents({ session, events: events.slice(at, at + 100) });
    clock.advance(1);
    await sessions.createSession(NEXT);
  });
  afterEach(() => Promise.all(ends.splice(0).map((end) => end())));

  /** The store, with something that happens between the reads of the long session. */
  function reading(
    change: (read: Read, request: Parameters<Read>[0], later: boolean) => ReturnType<Read>,
  ): SessionStorage {
    return new Proxy(storage, {
      get(on, name) {
        const value = Reflect.get(on, name, on) as unknown;
        if (typeof value !== 'function') return value;
        const bound = value.bind(on) as Read;
        if (name !== 'read') return bound;
        return (request: Parameters<Read>[0]) =>
          request.key.sessionId === 'long'
            ? change(bound, request, (request.window?.afterSeq ?? 0) > 0)
            : bound(request);
      },
    });
  }

  it('goes on if a session is deleted meanwhile, and leaves nothing of it in the target', async () => {
    const from = reading(async (read, request, later) => {
      if (later) await sessions.deleteSession(LONG);
      return read(request);
    });
    const { lines, skipped } = await moved(from);
    expect(skipped).toMatchObject([{ ...LONG, reason: 'deleted' }]);
    expect(await importLines(target, lines)).toMatchObject({ sessions: { created: 1, missing: 0 } });
    expect(comparable(await linesOf(target))).toEqual(comparable(await linesOf(storage)));
    expect(await verifySessions(target, lines)).toMatchObject({ isEqual: true, compared: { sessions: 1 } });
  });

  it('reads a session again that was trimmed meanwhile', async () => {
    const trimming = new SessionService({ storage, clock, history: { maxEvents: 3, keepHistory: false } });
    let isTrimmed = false;
    const from = reading(async (read, request, later) => {
      if (later && !isTrimmed) {
        isTrimmed = true;
        for (let first = 0; first < 700;) {
          await trimming.appendEvent({
            session: { ...LONG, id: 'long' },
            event: { author: 'user', content: text('x') },
          });
          await trimming.whenIdle();
          first = (await trimming.listEvents({ ...LONG, limit: 1 })).firstSeq;
        }
      }
      return read(request);
    });
    const { lines, skipped } = await moved(from);
    expect(skipped).toEqual([]);
    expect(lines.filter((line) => line.startsWith('{"kind":"void"'))).toHaveLength(1);
    expect(await importLines(target, lines)).toMatchObject({ sessions: { created: 2 } });
    expect(comparable(await linesOf(target))).toEqual(comparable(await linesOf(storage)));
  });

  it('takes the new session if one was deleted and created again meanwhile, also directly from store to store', async () => {
    let isNew = false;
    const from = reading(async (read, request, later) => {
      if (later && !isNew) {
        isNew = true;
        await sessions.deleteSession(LONG);
        await sessions.createSession({ ...LONG, state: { new: true } });
      }
      return read(request);
    });
    expect(await importSessions(target, exportSessions(from))).toMatchObject({ sessions: { created: 2 }, events: 0 });
    expect(comparable(await linesOf(target))).toEqual(comparable(await linesOf(storage)));
  });

  it('leaves out a session that changes every time, and one that is damaged, and says so', async () => {
    const busy = reading(async (read, request, later) => {
      if (later) {
        await sessions.deleteSession(LONG);
        const session = await sessions.createSession(LONG);
        for (let at = 0; at < 6; at++) {
          const events = Array.from({ length: 100 }, () => ({ author: 'user', content: text('again') }));
          await sessions.appendEvents({ session, events });
        }
      }
      return read(request);
    });
    const { lines, skipped } = await moved(busy);
    expect(skipped).toMatchObject([{ ...LONG, reason: 'changing' }]);
    expect(lines.filter((line) => line.startsWith('{"kind":"void"'))).toHaveLength(5);
    expect(await importLines(target, lines)).toMatchObject({ sessions: { created: 1, missing: 1 } });

    const broken = reading(async (read, request) => {
      const found = await read(request);
      return found && { ...found, events: found.events.filter(({ seq }) => seq !== 550) };
    });
    const damaged = await moved(broken);
    expect(damaged.skipped).toMatchObject([
      { ...LONG, reason: 'damaged', problem: 'event 550 cannot be read: run agent-sessions verify' },
    ]);
    expect(damaged.lines.filter((line) => line.startsWith('{"kind":"void"'))).toHaveLength(2);
    const { differences } = await verifySessions(broken, (await moved(storage)).lines);
    expect(differences).toMatchObject([{ ...LONG, problem: 'event 550 cannot be read: run agent-sessions verify' }]);
  });
});

describe.each(firstStore)('an import into $name that leaves out what is bad', ({ open }) => {
  let target: SessionStorage;
  let source: SessionStorage;
  let lines: string[];
  let destroy: () => Promise<void>;

  beforeEach(async () => {
    const filled = await filledStore();
    source = filled.storage;
    lines = await linesOf(source);
    ({ storage: target, destroy } = await open({ clock: filled.clock }));
  });
  afterEach(async () => {
    await destroy();
    await source.close();
  });

  it.each<[what: string, (all: string[]) => string[], left: object]>([
    ['a line that is no JSON', replaced('{"kind":"event","seq":11,', '{kind:'), { ...USER, sessionId: 's-1' }],
    ['an event that was changed', replaced('say 10', 'say 11'), { ...USER, sessionId: 's-1' }],
    ['a missing event', (all) => all.filter((line) => !line.includes('"seq":11,')), { sessionId: expect.any(String) }],
    ['a hostile id', replaced('"sessionId":"../x"', '"sessionId":".."'), {}],
    [
      'a line that is missing at the end of a session',
      (all) =>
        all.toSpliced(
          all.findIndex((line, at) => line.startsWith('{"kind":"end"') && all[at - 1]?.includes('"seq":12,')),
          1,
        ),
      {},
    ],
  ])('imports the rest of a file with %s', async (_what, change, left) => {
    const bad = change(lines);
    await expect(importLines(target, bad)).rejects.toMatchObject({ code: 'TRANSFER_FILE_INVALID' });
    const result = await importLines(target, bad, { onBad: 'skip' });
    expect(result.problems[0]).toMatchObject(left);
    expect(result.problems.at(-1)).toMatchObject({
      problem: 'the footer does not fit: lines are missing or were changed',
    });
    expect(result.bad).toBe(result.problems.length);
    const there = await linesOf(target);
    expect(lines).toEqual(expect.arrayContaining(there.slice(1, -1).filter((line) => line.startsWith('{"kind":"e'))));
    const ids = there.filter((line) => line.startsWith('{"kind":"session"'));
    expect(ids.length).toBeGreaterThan(0);
    expect(ids.length).toBeLessThan(3);
    // What was repaired is imported later.
    await importLines(target, lines);
    expect(comparable(await linesOf(target))).toEqual(comparable(lines));
  });

  it('imports what there is of a file that was cut off, and nothing in part', async () => {
    const at = lines.findIndex((line) => line.startsWith('{"kind":"session"') && line.includes('"s-2"'));
    const result = await importLines(target, lines.slice(0, at + 5), { onBad: 'skip' });
    expect(result.problems).toMatchObject([{ problem: 'the file ends without its footer: it was cut off' }]);
    expect((await linesOf(target)).filter((line) => line.includes('"s-2"'))).toEqual([]);
    expect((await importLines(target, lines)).sessions).toMatchObject({ created: 3 - result.sessions.created });
  });

  it('passes over a session of another system that is not valid here', async () => {
    const long = 'x'.repeat(192);
    const adk = sqliteOf(`
      CREATE TABLE sessions (app_name, user_id, id, state, create_time, update_time);
      CREATE TABLE events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data);
      CREATE TABLE user_states (app_name, user_id, state, update_time);
      CREATE TABLE app_states (app_name, state, update_time);
      INSERT INTO sessions VALUES ('a', 'u', 'good', '{}', 1, 2), ('a', 'u', '${long}', '{}', 1, 2),
        ('a', 'u', 'torn', '{"x', 1, 2), ('a', 'u', 'event', '{}', 1, 2), ('a', 'u', 'z', '{}', 1, 2);
      INSERT INTO events VALUES ('e1', 'a', 'u', 'good', 'i', 3, '{"author":"user"}'),
        ('e2', 'a', 'u', 'event', 'i', 3, '{"author":"user"}'), ('e3', 'a', 'u', 'event', 'i', 4, '{"author":');
      INSERT INTO user_states VALUES ('a', 'u', '[', 1), ('a', ' ', '{"k":1}', 1), ('a', 'v', '{"k":1}', 1);
      INSERT INTO app_states VALUES ('a', '{"k":2}', 1);`);
    await expect(importRecords(target, adkSessions(adk))).rejects.toMatchObject({
      code: 'TRANSFER_FILE_INVALID',
      session: { appName: 'a', userId: 'u', sessionId: 'event' },
    });
    const result = await importRecords(target, adkSessions(adk), { onBad: 'skip' });
    expect(result).toMatchObject({ sessions: { created: 2, unchanged: 0 }, events: 1, states: 2, bad: 5 });
    expect(result.problems.map(({ userId, sessionId }) => [userId, sessionId])).toEqual([
      ['u', 'event'],
      ['u', 'torn'],
      ['u', long],
      [' ', undefined],
      ['u', undefined],
    ]);
    adk.close();
  });
});

async function moved(from: SessionStorage): Promise<{ lines: string[]; skipped: SkippedSession[] }> {
  const [lines, skipped]: [string[], SkippedSession[]] = [[], []];
  for await (const line of exportSessions(from, { onSkipped: (one) => void skipped.push(one) })) lines.push(line);
  return { lines, skipped };
}

function replaced(what: string, by: string): (all: string[]) => string[] {
  return (all) => all.map((line) => line.replace(what, by));
}
