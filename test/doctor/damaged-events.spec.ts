import { InMemorySessionStorage, SessionService, StoreUnavailableError, isDamagedEvent } from '../../src/index.js';
import { diagnose } from '../../src/doctor/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { type SkippedSession, exportSessions, importSessions } from '../../src/transfer/index.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { describeChosen } from '../support/processes/shared-stores.js';
import { describeRedis } from '../support/redis-servers.js';
import { until } from '../support/until.js';
import { type SqlBench, sqlBenchOfEachKind } from '../support/sql-benches.js';

/** A store, and a hand that writes over the text of event 3 of the only session of `shop`. */
interface Damaged {
  readonly storage: () => SessionStorage;
  readonly write: (text: string) => Promise<void>;
}

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const CANARY = 'canary-5d2e';
const TEXTS = { 'is cut off': `{"id":"${CANARY}`, 'is no object': 'null', 'is no event': `{"id":"${CANARY}"}` };

const AROUND = ['1', '2', '3 damaged', '4'];

const seqsRead = (events: readonly { readonly seq?: number; readonly errorCode?: string }[]): string[] =>
  events.map((event) => `${event.seq}${isDamagedEvent(event) ? ' damaged' : ''}`);

function describeDamage({ storage, write }: Damaged): void {
  let sessions: SessionService;
  let reports: Error[];

  afterEach(() => sessions.deleteSession(KEY));
  beforeEach(async () => {
    reports = [];
    sessions = new SessionService({
      storage: storage(),
      onBackgroundError: (error) => reports.push(error as Error),
    });
    const session = await sessions.createSession({ ...KEY, state: { step: 0 } });
    // What came with the creation is not judged.
    await until(() => Date.now() > session.createTime + 1);
    await sessions.getSession(KEY);
    for (const step of [1, 2, 3, 4]) {
      const content = { role: step % 2 ? 'user' : 'model', parts: [{ text: `step ${step}` }] };
      const stateDelta = { step, ...(step === 3 && { only: 'three' }) };
      const actions = { stateDelta, ...(step % 2 && { metadataDelta: { title: step === 1 ? 'One' : 'Three' } }) };
      const usageMetadata = { promptTokenCount: 1 };
      await sessions.appendEvent({
        session,
        event: {
          id: `e-${step}`,
          author: step % 2 ? 'user' : 'agent',
          invocationId: 'i',
          content,
          actions,
          usageMetadata,
        },
      });
    }
  });

  it.each(Object.entries(TEXTS))('of which the text %s is read around, and reported once', async (_how, text) => {
    await write(text);
    const session = await sessions.getSession(KEY);
    expect(seqsRead(session?.events ?? [])).toEqual(AROUND);
    expect(session?.state.toRecord()).toEqual({ step: 4, only: 'three' });
    expect(seqsRead((await sessions.getSession({ ...KEY, config: { numRecentEvents: 2 } }))?.events ?? [])).toEqual(
      AROUND.slice(2),
    );
    const { events } = await sessions.listEvents(KEY);
    expect(seqsRead(events)).toEqual(AROUND);
    expect(events[2]).toMatchObject({ author: 'system', errorCode: 'EVENT_DAMAGED', actions: { stateDelta: {} } });
    const watched = [];
    for await (const event of sessions.watch({ ...KEY, afterSeq: 0 })) if (watched.push(event) === 4) break;
    expect(seqsRead(watched)).toEqual(AROUND);

    expect(session && (await sessions.appendEvent({ session, event: { author: 'user' } })).seq).toBe(5);
    expect(reports.map(({ message }) => message)).toEqual([
      'The store holds an event (3, of session "s") that is damaged. Run agent-sessions verify.',
    ]);
    expect(JSON.stringify([session?.events, events])).not.toContain(CANARY);
  });

  it('fails what needs all of them, and says what to do', async () => {
    await write(TEXTS['is cut off']);
    const error: unknown = await sessions.stateAt({ ...KEY, seq: 4 }).catch((problem: unknown) => problem);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect((error as Error).message).toBe('The store holds an event (3) that is damaged. Run agent-sessions verify.');
  });

  it('leaves its session out of an export, of which the rest can be imported', async () => {
    await sessions.createSession({ ...KEY, sessionId: 'other' });
    await write(TEXTS['is cut off']);
    const skipped: SkippedSession[] = [];
    const filter = { appName: KEY.appName };
    const lines = exportSessions(sessions, { filter, onSkipped: (session) => skipped.push(session) });
    const target = new SessionService({ storage: new InMemorySessionStorage() });
    expect(await importSessions(target, lines)).toMatchObject({ sessions: { created: 1 } });
    expect(skipped).toMatchObject([{ ...KEY, reason: 'damaged' }]);
    await sessions.deleteSession({ ...KEY, sessionId: 'other' });
  });

  it('is found, and replaced by one that keeps what the session has', async () => {
    await write(TEXTS['is cut off']);
    const codes = async (repair: boolean): Promise<string[]> =>
      (await diagnose({ sessions, appName: 'shop', repair })).findings.map(
        ({ code, repaired }) => `${code}${repaired ? ' repaired' : ''}`,
      );
    expect(await codes(false)).toEqual(['EVENT_UNREADABLE']);
    expect(await codes(true)).toEqual(['EVENT_UNREADABLE repaired']);
    expect(await codes(false)).toEqual([]);

    const session = await sessions.getSession(KEY);
    expect(session?.state.toRecord()).toEqual({ step: 4, only: 'three' });
    expect(session?.metadata.title).toBe('Three');
    const { events } = await sessions.listEvents({ ...KEY, afterSeq: 2, limit: 1 });
    expect(events).toMatchObject([
      {
        id: 'e-3',
        errorCode: 'EVENT_DAMAGED',
        customMetadata: { repaired: ['EVENT_UNREADABLE'] },
        actions: { stateDelta: { only: 'three' }, metadataDelta: { title: 'Three' } },
      },
    ]);
    expect((await sessions.stateAt({ ...KEY, seq: 3 })).state).toEqual({ step: 2, only: 'three' });
    expect(reports).toEqual([]);
    await sessions.rewindSession({ ...KEY, toSeq: 2 });
    expect((await sessions.getSession(KEY))?.state.toRecord()).toEqual({ step: 2 });
  });

  it.each([
    ['a list that is a number', { longRunningToolIds: 7 }],
    ['parts that are none', { content: { parts: 'x' } }],
    ['state that is none', { actions: { stateDelta: {}, stateRemovals: 7 } }],
    ['metadata that is none', { actions: { stateDelta: {}, metadataDelta: { tags: null } } }],
  ])('is found and replaced if it has %s, whatever let it in', async (_what, fields) => {
    await sessions.createSession({ ...KEY, userId: 'bob' });
    const event = { id: 'e-3', author: 'agent', invocationId: 'i', timestamp: Date.now(), actions: { stateDelta: {} } };
    await write(JSON.stringify({ ...event, ...fields }));
    const { findings, sessions: checked } = await diagnose({ sessions, appName: 'shop' });
    expect(findings).toMatchObject([{ code: 'EVENT_UNREADABLE', sessionId: 's', userId: 'ann' }]);
    expect(findings[0]?.detail).toMatch(/^event 3 is not what an append stores: /);
    expect(checked).toBe(2);
    await diagnose({ sessions, appName: 'shop', repair: true });
    expect((await diagnose({ sessions, appName: 'shop' })).findings).toEqual([]);
    expect((await sessions.getSession(KEY))?.state.toRecord()).toEqual({ step: 4, only: 'three' });
    await sessions.deleteSession({ ...KEY, userId: 'bob' });
  });

  it('is left if it was a rewind, of which the record does not tell enough', async () => {
    await sessions.deleteSession(KEY);
    const session = await sessions.createSession(KEY);
    await sessions.appendEvents({ session, events: [{ author: 'user' }, { author: 'agent' }] });
    await sessions.rewindSession({ ...KEY, toSeq: 1 });
    await write('{');
    const { findings } = await diagnose({ sessions, appName: 'shop', repair: true });
    expect(findings).toMatchObject([{ code: 'EVENT_UNREADABLE', repaired: false }]);
  });
}

describeChosen('A damaged event in a $name store', sqlBenchOfEachKind, ({ open }) => {
  let bench: SqlBench;
  let storage: SessionStorage;

  beforeAll(async () => {
    bench = await open();
    storage = new TypeOrmSessionStorage(bench.options);
  });
  afterAll(async () => {
    await storage.close();
    await bench.destroy();
  });

  describeDamage({
    storage: () => storage,
    write: (text) => bench.run(`UPDATE agent_session_events SET payload = '${text}' WHERE seq = 3`),
  });
});

describeRedis('A damaged event in a $name store', ['redis', 'redis-cluster'], (bench) => {
  /** With its times and its id, or without anything. */
  const write = async (text: string, withoutHead = false): Promise<void> => {
    const [key = '', node] = (await bench().keys()).find(([name]) => name.endsWith(`:session:${KEY.sessionId}`)) ?? [];
    const event = (await node?.hget(key, '3')) ?? '';
    const head = event.split('\n').slice(0, 4).join('\n');
    await node?.hset(key, '3', withoutHead ? text : `${head}\n${text}`);
  };

  describe('with its head', () => describeDamage({ storage: () => bench().storage(), write }));

  it('is read around and replaced if nothing of it is left', async () => {
    const sessions = new SessionService({ storage: bench().storage(), onBackgroundError: () => undefined });
    const session = await sessions.createSession(KEY);
    await sessions.appendEvents({ session, events: ['1', '2', '3', '4'].map((id) => ({ id, author: 'user' })) });
    await write('garbage', true);
    const { events } = await sessions.listEvents(KEY);
    expect(events.map(({ id }) => id)).toEqual(['1', '2', 'damaged-3', '4']);
    const recent = await sessions.getSession({ ...KEY, config: { afterTimestamp: events[0]?.timestamp } });
    expect(recent?.events.map(({ seq }) => seq)).toEqual([1, 2, 4]);
    const repair = await diagnose({ sessions, repair: true });
    expect(repair.findings).toContainEqual(expect.objectContaining({ code: 'EVENT_UNREADABLE', repaired: true }));
    await diagnose({ sessions, repair: true });
    expect((await diagnose({ sessions })).findings).toEqual([]);
  });
});
