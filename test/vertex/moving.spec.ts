import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { diagnose } from '../../src/doctor/index.js';
import type { SessionStorage } from '../../src/storage.js';
import type { ManualClock } from '../../src/testing/index.js';
import { exportSessions, importSessions, verifySessions } from '../../src/transfer/index.js';
import { storeOfEachKind } from '../support/stores.js';
import { KEY, USER, comparable, filledStore, linesOf, overridden, text } from '../transfer/support.js';
import { storageAt } from './support/open-vertex.js';
import { type Fault, VertexServer } from './support/vertex-server.js';

/** What the service cannot hold. */
const WITHOUT = { components: false, shared: false } as const;
const WRITES = /^POST|^PATCH|^DELETE/;
const REWOUND = { ...USER, sessionId: 's-2' };
const DAY = 86_400_000;

describe('Moving to Vertex AI', () => {
  let server: VertexServer;
  let clock: ManualClock;
  let source: SessionStorage;
  let lines: string[];
  let closing: (() => Promise<void>)[];

  beforeEach(async () => {
    closing = [];
    ({ storage: source, clock } = await filledStore());
    lines = await linesOf(source);
    server = await VertexServer.start({ clock, maxPage: 7 });
  });

  afterEach(async () => {
    for (const close of closing) await close();
    await source.close();
    await server.stop();
  });

  /** Another process: it shares nothing but the service. */
  function open(options?: Parameters<typeof storageAt>[1]): SessionStorage {
    const storage = storageAt(server, { clock, ...options });
    closing.push(() => storage.close());
    return storage;
  }

  function serviceOver(storage: SessionStorage): SessionService {
    return new SessionService({ storage, clock });
  }

  /** How long the service lets the first session live. */
  function given(): number {
    return Date.parse(server.sessions[0]?.expireTime ?? '') - clock.now();
  }

  function storedEvents(): number {
    return server.sessions.flatMap(({ events }) => events).length;
  }

  function fail(...faults: Omit<Fault, 'on'>[]): void {
    server.faults.push(...faults.map((fault) => ({ on: WRITES, ...fault })));
  }

  async function expectAllMoved(): Promise<void> {
    expect(sessionsIn((await exportsOf(open())).flat())).toEqual(sessionsIn(lines));
    expect(await verifySessions(open(), lines, WITHOUT)).toMatchObject({
      isEqual: true,
      differences: [],
      compared: { sessions: 3 },
    });
    expect(storedEvents()).toBe(kindsIn(lines).filter((kind) => kind === 'event').length);
  }

  describe.each(storeOfEachKind)('from $name and back', ({ open: openStore }) => {
    it('keeps sessions, trimmed ones and those with summaries and rewinds too', async () => {
      const { storage, destroy } = await openStore({ clock });
      const back = await openStore({ clock });
      try {
        await importSessions(storage, lines);
        const result = await importSessions(open(), exportSessions(storage), WITHOUT);
        expect(result).toMatchObject({ sessions: { created: 3 }, omitted: 5, components: { filtered: 5 } });
        await expectAllMoved();
        for (const exported of await exportsOf(open())) await importSessions(back.storage, exported);
        expect(sessionsIn(await linesOf(back.storage))).toEqual(sessionsIn(lines));
      } finally {
        await destroy();
        await back.destroy();
      }
    });
  });

  it('a comparison passes over the order of keys inside of values, which the service does not keep', async () => {
    const value = { b: 1, a: [{ d: 1, c: 2 }] };
    await serviceOver(source).createSession({ ...USER, sessionId: 'ordered', state: { value } });
    lines = await linesOf(source);
    await importSessions(open(), lines, WITHOUT);
    const moved = await serviceOver(open()).getSession({ ...USER, sessionId: 'ordered' });
    expect(JSON.stringify(moved?.state.get('value'))).not.toBe(JSON.stringify(value));
    expect(await verifySessions(open(), lines, WITHOUT)).toMatchObject({ isEqual: true, differences: [] });
  });

  it('a second import sends nothing but reads', async () => {
    await importSessions(open(), lines, WITHOUT);
    server.takeRequests();
    expect(await importSessions(open(), lines, WITHOUT)).toMatchObject({
      sessions: { created: 0, continued: 0, unchanged: 3 },
      events: 0,
    });
    expect(server.takeRequests().filter((line) => WRITES.test(line))).toEqual([]);
  });

  it('goes on where it ended, wherever that was', async () => {
    let interruptions = 0;
    for (; ; interruptions++) {
      fail({ passes: interruptions, status: 403 });
      const failure = await importSessions(open(), lines, WITHOUT).catch((error: unknown) => error);
      if (server.faults.splice(0).length > 0) break;
      expect(failure).toMatchObject({ code: 'STORE_UNAVAILABLE', httpStatus: 403 });
    }
    expect(interruptions).toBeGreaterThan(5);
    await importSessions(open(), lines, WITHOUT);
    await expectAllMoved();
  });

  it('goes on after a process that ended before it got an answer', async () => {
    for (let passes = 1; passes < 12; passes += 3) {
      fail({ passes, after: 'drop' });
      // Afterwards it can send nothing more, and so cannot look what became of the event.
      const accessToken = async (): Promise<string> => (server.faults.length > 0 ? 'token-1' : 'none');
      const ended = importSessions(open({ accessToken }), lines, WITHOUT);
      await expect(ended).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    }
    await importSessions(open(), lines, WITHOUT);
    await expectAllMoved();
  });

  it.each<[string, Omit<Fault, 'on'>]>([
    ['no answer', { after: 'drop' }],
    ['half an answer', { after: 'truncate' }],
    ['500 for what was done', { after: 'status', status: 500 }],
    ['500 for what was not done', { status: 500 }],
    ['429', { status: 429, headers: { 'retry-after': '0' } }],
  ])('nothing is lost, and nothing is twice, if the service gives %s', async (_what, fault) => {
    fail(...[0, 0, 5, 9, 11].map((passes) => ({ ...fault, passes })));
    await importSessions(open(), lines, WITHOUT);
    expect(server.faults).toEqual([]);
    await expectAllMoved();
  });

  it('other programs see the events at their times, and the state', async () => {
    await importSessions(open(), lines, { ...WITHOUT, filter: KEY });
    const [session] = server.sessions;
    const times = sessionLines(lines)
      .map((line) => JSON.parse(line) as { appendedAt: number; event?: { invocationId: string } })
      .filter(({ event }) => event?.invocationId.startsWith('i-'))
      .map(({ appendedAt }) => new Date(appendedAt).getTime());
    expect(session?.events.map(({ timestamp }) => Date.parse(timestamp))).toEqual(times);
    expect(session?.sessionState).toMatchObject({ a: 1, kept: null, step: 12 });
  });

  it('sessions of the same id, of another user or created there, are not touched', async () => {
    const there = serviceOver(open());
    await there.createSession({ ...KEY, userId: 'bob', state: { of: 'bob' } });
    await importSessions(open(), lines, WITHOUT);
    expect((await serviceOver(open()).getSession({ ...KEY, userId: 'bob' }))?.state).toEqual({ of: 'bob' });
    expect(await verifySessions(open(), lines, WITHOUT)).toMatchObject({ isEqual: true });

    await there.deleteSession(KEY);
    await there.createSession({ ...KEY, state: { of: 'this store' } });
    await expect(importSessions(open(), lines, WITHOUT)).rejects.toMatchObject({ code: 'TRANSFER_CONFLICT' });
    expect((await there.getSession(KEY))?.state).toEqual({ of: 'this store' });
    await importSessions(open(), lines, { ...WITHOUT, onConflict: 'replace' });
    expect(await verifySessions(open(), lines, WITHOUT)).toMatchObject({ isEqual: true });
  });

  it('a session that others write meanwhile is a conflict', async () => {
    fail({ passes: 4, status: 403 });
    await importSessions(open(), lines, { ...WITHOUT, filter: KEY }).catch(() => undefined);
    await serviceOver(open()).appendEvent({ session: KEY_OBJECT, event: { author: 'user' } });
    await expect(importSessions(open(), lines, WITHOUT)).rejects.toMatchObject({ code: 'TRANSFER_CONFLICT' });
  });

  it('conversations go on, with their numbers, counters, usage, rewinds and forks', async () => {
    const target = open();
    await importSessions(target, lines, WITHOUT);
    const [before, after] = [serviceOver(source), serviceOver(open())];
    for (const key of [KEY, REWOUND]) {
      const shown = async (sessions: SessionService): Promise<unknown> => {
        const session = await sessions.getSession(key);
        const { state: _state, ...rest } = JSON.parse(JSON.stringify(session)) as { state: object };
        return { ...rest, usage: await sessions.getUsage(key) };
      };
      expect(await shown(after)).toEqual(await shown(before));
      const event = { id: 'new', author: 'user', content: text('go on'), usageMetadata: { totalTokenCount: 5 } };
      for (const sessions of [before, after])
        await sessions.appendEvent({ session: { ...key, id: key.sessionId }, event });
      expect(await shown(after)).toEqual(await shown(before));
      const toSeq = key === KEY ? 10 : 26;
      for (const sessions of [before, after]) await sessions.rewindSession({ ...key, toSeq });
      expect(withoutIds(await shown(after))).toEqual(withoutIds(await shown(before)));
    }
    const fork = await after.forkSession({ ...KEY, newSessionId: 'fork' });
    expect(fork.state.toRecord()).toMatchObject({ step: 10 });
    expect(await listOf(after)).toEqual(await listOf(before));
    expect(await diagnose({ storage: target, appName: USER.appName })).toMatchObject({ findings: [], sessions: 3 });
  });

  it.each(['at once', 'after an append'])(
    'events that other programs write into a trimmed log %s get the next numbers, and are counted',
    async (when) => {
      await importSessions(open(), lines, WITHOUT);
      const sessions = serviceOver(open());
      if (when !== 'at once') await sessions.appendEvent({ session: KEY_OBJECT, event: { author: 'agent' } });
      const was = await sessions.getSession(KEY);
      const foreign = {
        author: 'user',
        invocationId: 'i-99',
        timestamp: new Date(clock.now() + 5).toISOString(),
        content: text('from elsewhere'),
      };
      const name = server.sessions.find(({ sessionState }) => sessionState.step === 12)?.name;
      const headers = { authorization: 'Bearer token-1' };
      const url = `${server.endpoint}/v1beta1/${name}:appendEvent`;
      expect((await fetch(url, { method: 'POST', headers, body: JSON.stringify(foreign) })).status).toBe(200);

      const [version, count] = [was?.version ?? 0, was?.conversationCount ?? 0];
      const seen = { version: version + 1, conversationCount: count + 1 };
      expect(await serviceOver(open()).getSession(KEY)).toMatchObject(seen);
      const event = await sessions.appendEvent({ session: KEY_OBJECT, event: { author: 'user', content: text('x') } });
      expect(event.seq).toBe(version + 2);
      const read = await serviceOver(open()).getSession(KEY);
      expect(read).toMatchObject({ version: version + 2, conversationCount: count + 2, createTime: was?.createTime });
      expect(read?.events.slice(-2).map(({ seq }) => seq)).toEqual([version + 1, version + 2]);
    },
  );

  describe('an expiry', () => {
    let store: InMemorySessionStorage;
    let moved: string[];

    async function exportWith(sessionSeconds: number): Promise<void> {
      store = new InMemorySessionStorage({ clock });
      closing.push(() => store.close());
      const sessions = new SessionService({ storage: store, clock, ttl: { enabled: true, sessionSeconds } });
      const session = await sessions.createSession(KEY);
      await sessions.appendEvent({ session, event: { id: 'e-1', author: 'user' } });
      moved = await linesOf(store);
    }

    it.each([2, 40 * 24])('in %i hours is kept, also if the service lets the session live longer', async (hours) => {
      await exportWith(hours * 3_600);
      await importSessions(open(), moved);
      expect(given()).toBe(Math.max(hours, 25) * 3_600_000);
      expect(await verifySessions(open(), moved)).toMatchObject({ isEqual: true, differences: [] });
      clock.advanceSeconds(hours * 3_600 - 1);
      expect(await serviceOver(open()).getSession(KEY)).toBeDefined();
      clock.advanceSeconds(1);
      expect(await serviceOver(open()).getSession(KEY)).toBeUndefined();
      expect(await importSessions(open(), moved)).toMatchObject({ sessions: { expired: 1 } });
      await serviceOver(open()).createSession({ ...KEY, state: { new: true } });
      expect((await serviceOver(open()).getSession(KEY))?.state).toEqual({ new: true });
    });

    it.each([
      ['in 30 days', 30 * 86_400],
      ['never', 0],
    ])('%s: a session whose id an interrupted fork has is refused, and imported later', async (_when, seconds) => {
      const sessions = serviceOver(open());
      await sessions.createSession({ ...USER, sessionId: 'forked' });
      await sessions.appendEvents({
        session: { ...USER, id: 'forked' },
        events: [{ author: 'user', content: text('one') }, { author: 'agent' }],
      });
      fail({ passes: 1, status: 403 });
      const forked = sessions.forkSession({ ...USER, sessionId: 'forked', newSessionId: KEY.sessionId });
      await expect(forked).rejects.toMatchObject({ httpStatus: 403 });
      await exportWith(seconds);

      const failed = importSessions(open(), moved, { onBad: 'skip', onConflict: 'skip' });
      await expect(failed).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      clock.advanceSeconds(11 * 60);
      expect(await importSessions(open(), moved)).toMatchObject({ sessions: { created: 1 } });
      expect(await verifySessions(open(), moved)).toMatchObject({ isEqual: true });
    });

    it('that has passed while the id was taken makes the session an expired one', async () => {
      await exportWith(2 * 3_600);
      const late = overridden(open(), {
        create: async () => {
          clock.advanceSeconds(2 * 3_600);
          return undefined;
        },
      });
      expect(await importSessions(late, moved)).toMatchObject({ sessions: { expired: 1 } });
    });

    it('is renewed by an append', async () => {
      await exportWith(2 * 3_600);
      await importSessions(open(), moved);
      const ttl = { enabled: true, sessionSeconds: 2 * 86_400 };
      await new SessionService({ storage: open(), clock, ttl }).appendEvent({
        session: KEY_OBJECT,
        event: { author: 'user' },
      });
      expect(given()).toBe(2 * DAY);
      clock.advanceSeconds(3 * 3_600);
      expect(await serviceOver(open()).getSession(KEY)).toMatchObject({ version: 2 });
    });

    it('is that of the service, as a comparison says, if the service does not accept it', async () => {
      await server.stop();
      server = await VertexServer.start({ clock, maxTtlMs: 400 * DAY });
      await exportWith(0);
      await importSessions(open(), moved);
      expect(given()).toBe(365 * DAY);
      expect((await verifySessions(open(), moved)).differences).toMatchObject([
        { ...KEY, problem: 'the session differs in expiresAt' },
      ]);
    });
  });

  it.each([false, true])('what the service cannot hold is refused, with dryRun: %s', async (dryRun) => {
    const at = lines.findIndex((line) => line.startsWith('{"kind":"state"'));
    const refused = importSessions(open(), lines, { components: false, dryRun });
    await expect(refused).rejects.toMatchObject({ code: 'UNSUPPORTED_BY_STORE' });
    await expect(refused).rejects.toThrow('`shared: false`');
    const before = kindsIn(lines.slice(0, at)).filter((kind) => kind === 'session').length;
    expect(server.sessions).toHaveLength(dryRun ? 0 : before);
    await expect(importSessions(open(), lines, { shared: false, dryRun })).rejects.toThrow('`components: false`');
  });

  it('what is left out is listed, and a comparison can leave it out too', async () => {
    const { omitted, omissions, states, usages } = await importSessions(open(), lines, WITHOUT);
    expect({ omitted, states, usages }).toEqual({ omitted: 5, states: 0, usages: 0 });
    expect(omissions).toContainEqual({ appName: 'shop', problem: 'its state was left out' });
    expect(omissions).toContainEqual({ ...USER, problem: 'its usage was left out' });
    const { differences } = await verifySessions(open(), lines, { components: false });
    expect(differences).toHaveLength(5);
  });

  it('another store can leave out state of users and apps as well', async () => {
    const target = new InMemorySessionStorage({ clock });
    closing.push(() => target.close());
    expect(await importSessions(target, lines, { shared: false })).toMatchObject({ omitted: 5, states: 0, usages: 0 });
    expect(kindsIn(await linesOf(target))).not.toEqual(expect.arrayContaining(['state']));
  });
});

const KEY_OBJECT = { ...KEY, id: KEY.sessionId };

function sessionLines(lines: readonly string[]): string[] {
  return lines.filter((line) => /^\{"kind":"(session|event|end)"/.test(line));
}

function sessionsIn(lines: readonly string[]): string[] {
  return comparable(['header', ...sessionLines(lines), 'footer']);
}

function kindsIn(lines: readonly string[]): string[] {
  return lines.map((line) => (JSON.parse(line) as { kind: string }).kind);
}

/** The exports of all apps. The service does not tell which there are. */
async function exportsOf(storage: SessionStorage): Promise<string[][]> {
  const exports: string[][] = [];
  for (const appName of ['shop', 'other/app']) {
    const lines: string[] = [];
    for await (const line of exportSessions(storage, { filter: { appName } })) lines.push(line);
    exports.push(lines);
  }
  return exports;
}

/** The sessions of the user as a list shows them, without the fork. */
async function listOf(sessions: SessionService): Promise<unknown> {
  const { sessions: all } = await sessions.listSessions({ ...USER, orderBy: 'createTime' });
  return all
    .filter(({ id }) => id !== 'fork')
    .map(({ id, createTime, lastUpdateTime, metadata }) => ({ id, createTime, lastUpdateTime, metadata }));
}

/** Rewinds have ids of their own. */
function withoutIds(shown: unknown): unknown {
  return JSON.parse(JSON.stringify(shown, (name, value: unknown) => (name === 'id' ? undefined : value)));
}
