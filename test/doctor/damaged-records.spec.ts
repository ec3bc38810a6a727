import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { diagnose } from '../../src/doctor/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { exportSessions, importSessions } from '../../src/transfer/index.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { describeChosen } from '../support/processes/shared-stores.js';
import { updatesOfRecords } from '../support/record-lines.js';
import { describeRedis } from '../support/redis-servers.js';
import { type SqlBench, sqlBenchOfEachKind } from '../support/sql-benches.js';

/** A store, and a hand that damages the record of the session `hurt`, or the state of its user. */
interface Damaged {
  readonly storage: () => SessionStorage;
  readonly hurtRecord: () => Promise<void>;
}

const APP = { appName: 'shop' };
const SESSIONS = [
  { ...APP, userId: 'ann', sessionId: 'a-1' },
  { ...APP, userId: 'ann', sessionId: 'hurt' },
  { ...APP, userId: 'ann', sessionId: 'z-1' },
  { ...APP, userId: 'bob', sessionId: 'b-1' },
];

async function listed(sessions: SessionService, request: object): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await sessions.listSessions({
      ...APP,
      limit: 1,
      orderBy: 'createTime',
      order: 'asc',
      ...request,
      cursor,
    });
    ids.push(...page.sessions.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return ids.filter((id) => id !== 'hurt').toSorted();
}

function describeDamage({ storage, hurtRecord }: Damaged): void {
  it('hides no other session, is reported once, and named by the doctor and by an export', async () => {
    const reports: Error[] = [];
    const sessions = new SessionService({
      storage: storage(),
      onBackgroundError: (error) => reports.push(error as Error),
    });
    for (const key of SESSIONS) {
      const session = await sessions.createSession({ ...key, state: { step: 1 }, metadata: { status: 'open' } });
      await sessions.appendEvent({ session, event: { author: 'user' } });
    }
    await hurtRecord();

    for (const filter of [undefined, { status: 'open' }]) {
      expect(await listed(sessions, { filter })).toEqual(['a-1', 'b-1', 'z-1']);
      expect(await listed(sessions, { filter, userId: 'ann' })).toEqual(['a-1', 'z-1']);
    }
    const all = await sessions.listSessions({ ...APP, page: 1 });
    expect(all.sessions.map(({ id }) => id)).toEqual(expect.arrayContaining(['a-1', 'b-1', 'z-1']));
    expect(reports.map(({ message }) => message)).toEqual([
      'The store holds the record (of session "hurt") that is damaged. Run agent-sessions verify.',
    ]);

    const hurt = { ...APP, userId: 'ann', sessionId: 'hurt' };
    for (const scope of [{}, APP, { ...APP, userId: 'ann' }]) {
      const { findings, sessions: checked } = await diagnose({ storage: storage(), ...scope });
      const named = findings.filter(({ code }) => code === 'RECORD_UNREADABLE');
      expect(named).toEqual([expect.objectContaining(hurt)]);
      expect(checked).toBe('userId' in scope ? 2 : 3);
    }

    const skipped: unknown[] = [];
    const lines = exportSessions(storage(), { filter: APP, onSkipped: (session) => skipped.push(session) });
    const target = new InMemorySessionStorage();
    expect(await importSessions(target, lines)).toMatchObject({ sessions: { created: 3 } });
    expect(skipped).toEqual([expect.objectContaining({ ...hurt, reason: 'damaged' })]);
  });
}

describeChosen('A damaged record in a $name store', sqlBenchOfEachKind, ({ open }) => {
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
    hurtRecord: async () => {
      const rows = await bench.rows(`SELECT pk, record FROM agent_sessions WHERE session_id = 'hurt'`);
      for (const statement of updatesOfRecords(rows, { hidden: '[{', covered: 'x' })) await bench.run(statement);
    },
  });
});

describeRedis('A damaged record in a $name store', ['redis', 'redis-cluster'], (bench) => {
  async function changeRecord(change: (record: string) => string): Promise<void> {
    const [key = '', node] = (await bench().keys()).find(([name]) => name.endsWith(':session:hurt')) ?? [];
    await node?.hset(key, 'record', change((await node.hget(key, 'record')) ?? ''));
  }

  describe('that is cut off', () =>
    describeDamage({
      storage: () => bench().storage(),
      hurtRecord: () => changeRecord((record) => record.split('\n').slice(0, 2).join('\n')),
    }));

  describe('that is garbage', () =>
    describeDamage({ storage: () => bench().storage(), hurtRecord: () => changeRecord(() => 'garbage') }));

  describe('of which a number is none', () =>
    describeDamage({
      storage: () => bench().storage(),
      hurtRecord: () => changeRecord((record) => record.split('\n').toSpliced(4, 1, 'five').join('\n')),
    }));
});
