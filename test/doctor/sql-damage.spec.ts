import { SessionService } from '../../src/index.js';
import { type Finding, diagnose } from '../../src/doctor/index.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import type { SessionStorage } from '../../src/storage.js';
import { describeChosen } from '../support/processes/shared-stores.js';
import { countersLine, updatesOfRecords } from '../support/record-lines.js';
import { type SqlBench, sqlBenchOfEachKind } from '../support/sql-benches.js';
import { until } from '../support/until.js';

const pk = (app: string): string => `(SELECT pk FROM agent_sessions WHERE app_name = '${app}')`;

/** A statement, or what changes in the record. */
type Damage = (app: string) => string | Parameters<typeof updatesOfRecords>[1];

/** Each kind of damage is done to the only session of its app. What it leads to, and whether a repair mends it. */
const DAMAGES: Readonly<Record<string, readonly [damage: Damage, mended: string, left?: string]>> = {
  state: [(app) => `UPDATE agent_sessions SET state = '"step":9' WHERE app_name = '${app}'`, 'STATE_DIFFERS'],
  nostate: [(app) => `UPDATE agent_sessions SET state = '' WHERE app_name = '${app}'`, 'STATE_DIFFERS'],
  // Those of a large state have rows.
  largekey: [
    (app) => `UPDATE agent_session_state SET value = '9' WHERE name = 'step' AND session_pk = ${pk(app)}`,
    'STATE_DIFFERS',
  ],
  nokey: [(app) => `DELETE FROM agent_session_state WHERE session_pk = ${pk(app)}`, 'STATE_DIFFERS'],
  counters: [() => ({ counters: countersLine({ events: 9 }) }), 'COUNTERS_DIFFER'],
  marks: [() => ({ hidden: '1-2' }), 'MARKS_DIFFER'],
  tip: [() => ({ tip: 1 }), 'RECORD_DIFFERS'],
  water: [() => ({ water: 0 }), 'RECORD_DIFFERS'],
  columns: [
    (app) => `UPDATE agent_sessions SET last_update_time = 1, update_minute = 0 WHERE app_name = '${app}'`,
    'INDEX_DIFFERS',
  ],
  noindex: [(app) => `DELETE FROM agent_session_index WHERE session_pk = ${pk(app)}`, 'INDEX_DIFFERS'],
  oldindex: [(app) => `UPDATE agent_session_index SET create_time = 1 WHERE session_pk = ${pk(app)}`, 'INDEX_DIFFERS'],
  scope: [
    (app) => `DELETE FROM agent_shared_state WHERE scope_pk = (
    SELECT pk FROM agent_shared_scopes WHERE app_name = '${app}' AND user_id = 'ann')`,
    'SCOPE_EMPTY',
  ],
  gap: [(app) => `DELETE FROM agent_session_events WHERE seq = 2 AND session_pk = ${pk(app)}`, '', 'EVENT_MISSING'],
  text: [
    (app) => `UPDATE agent_session_events SET payload = '{' WHERE seq = 2 AND session_pk = ${pk(app)}`,
    'EVENT_UNREADABLE',
  ],
  shape: [
    (app) => `UPDATE agent_session_events SET payload = '{"id":1}' WHERE seq = 2 AND session_pk = ${pk(app)}`,
    'EVENT_UNREADABLE',
  ],
  null: [
    (app) => `UPDATE agent_session_events SET payload = 'null' WHERE seq = 2 AND session_pk = ${pk(app)}`,
    'EVENT_UNREADABLE',
  ],
  altered: [
    (app) => `UPDATE agent_session_events SET payload = REPLACE(payload, 'two', 'too') WHERE session_pk = ${pk(app)}`,
    '',
    'EVENT_ALTERED',
  ],
  anchor: [(app) => `UPDATE agent_session_events SET anchor = 0 WHERE session_pk = ${pk(app)}`, 'ANCHOR_MISSING'],
  group: [
    (app) => `UPDATE agent_session_events SET event_group = 'i:other' WHERE seq = 2 AND session_pk = ${pk(app)}`,
    'INVOCATION_DIFFERS',
  ],
  nogroup: [
    (app) => `UPDATE agent_session_events SET event_group = '' WHERE session_pk = ${pk(app)}`,
    'INVOCATION_DIFFERS',
  ],
  tokens: [() => ({ usage: '2 6 0 0 0 0 99 unknown' }), 'USAGE_TOO_HIGH'],
  fewer: [() => ({ usage: '' }), 'USAGE_TOO_LOW'],
  metadata: [
    (app) => `UPDATE agent_sessions SET metadata = REPLACE(metadata, 'Two', 'Too') WHERE app_name = '${app}'`,
    'METADATA_DIFFERS',
  ],
  record: [() => ({ covered: '{' }), '', 'RECORD_UNREADABLE'],
};

/** Apps with a state that is not one text. */
const WITH_ROWS: ReadonlySet<string> = new Set(['largekey', 'nokey', 'lost']);

const codesOf = (findings: readonly Finding[]) => (app: string, repaired: boolean) =>
  findings.filter((one) => one.appName === app && one.repaired === repaired).map(({ code }) => code);

async function orphans(storage: SessionStorage, repair: boolean): Promise<string[]> {
  const { findings } = await diagnose({ storage, repair });
  const found = findings.filter(({ code }) => code === 'ORPHAN');
  return found.map(({ detail, repaired }) => `${detail.replace(/.*\d in /, '')}${repaired ? ', removed' : ''}`).sort();
}

describeChosen('Damage in the tables of a $name store', sqlBenchOfEachKind, ({ open }) => {
  let bench: SqlBench;
  let storage: TypeOrmSessionStorage;
  let sessions: SessionService;

  beforeAll(async () => {
    bench = await open();
    storage = new TypeOrmSessionStorage(bench.options);
    sessions = new SessionService({ storage });
  });
  afterAll(async () => {
    await storage.close();
    await bench.destroy();
  });

  async function fill(appName: string): Promise<void> {
    const metadata = { status: 'open', tags: ['a'] };
    const state = { 'user:t': 1 };
    const session = await sessions.createSession({ appName, userId: 'ann', sessionId: 's', state, metadata });
    // What came with the creation is not judged.
    await until(() => Date.now() > session.createTime + 1);
    for (const text of ['one', 'two']) {
      const content = { role: 'user', parts: [{ text }] };
      const usageMetadata = { promptTokenCount: 3 };
      const actions = {
        stateDelta: { step: text, ...(WITH_ROWS.has(appName) && { large: 'x'.repeat(2_000) }) },
        metadataDelta: { title: `Two or ${text}`, tags: { remove: ['x'] } },
      };
      const event = { author: 'user', invocationId: text === 'one' ? 'i-1' : 'i-2', content, actions, usageMetadata };
      await sessions.appendEvent({ session, event });
    }
  }

  async function changeRecords(app: string, changes: Parameters<typeof updatesOfRecords>[1]): Promise<void> {
    const rows = await bench.rows(`SELECT pk, record FROM agent_sessions WHERE app_name = '${app}'`);
    for (const statement of updatesOfRecords(rows, changes)) await bench.run(statement);
  }

  it('is found, and mended where the tables are derived from events', async () => {
    for (const app of Object.keys(DAMAGES)) await fill(app);
    expect((await diagnose({ storage })).findings).toEqual([]);
    for (const [app, [damage]] of Object.entries(DAMAGES)) {
      const done = damage(app);
      if (typeof done === 'string') await bench.run(done);
      else await changeRecords(app, done);
    }

    const before = codesOf((await diagnose({ storage })).findings);
    const after = codesOf((await diagnose({ storage, repair: true })).findings);
    const again = codesOf((await diagnose({ storage })).findings);
    for (const [app, [, mended, left]] of Object.entries(DAMAGES)) {
      const expected = { app, found: before(app, false), mended: after(app, true), left: again(app, false) };
      expect(expected).toMatchObject({
        found: expect.arrayContaining([mended, left].filter(Boolean)),
        mended: mended === '' ? [] : [mended],
        left: left === undefined ? [] : [left],
      });
    }
  });

  it('is found if rows have lost their session: derived ones are removed, events and state stay', async () => {
    await fill('lost');
    await bench.run(`DELETE FROM agent_sessions WHERE app_name = 'lost'`);
    const data = ['the events', 'the state of sessions'];
    expect(await orphans(storage, false)).toEqual([...data, 'the index of metadata'].toSorted());
    expect(await orphans(storage, true)).toEqual([...data, 'the index of metadata, removed'].toSorted());
    expect(await orphans(storage, false)).toEqual(data);
  });

  it('is found if the record ends before the log, to which then nothing is appended', async () => {
    await fill('beyond');
    await changeRecords('beyond', { last: 1, tip: 1, counters: countersLine({ events: 1 }) });
    const { findings } = await diagnose({ storage, repair: true });
    expect(codesOf(findings)('beyond', false)).toEqual(
      expect.arrayContaining(['EVENT_BEYOND_END', 'STATE_DIFFERS', 'COUNTERS_DIFFER']),
    );
    expect(codesOf(findings)('beyond', true)).toEqual([]);
  });

  it('is found and mended if a checkpoint is not what the events say', async () => {
    const session = await sessions.createSession({ appName: 'long', userId: 'ann', sessionId: 's' });
    for (let page = 0; page < 3; page++) {
      const events = Array.from({ length: 100 }, (_, n) => ({ author: 'agent', actions: { stateDelta: { n } } }));
      await sessions.appendEvents({ session, events });
    }
    await sessions.stateAt({ appName: 'long', userId: 'ann', sessionId: 's', seq: 300 });
    await sessions.rewindSession({ appName: 'long', userId: 'ann', sessionId: 's', toSeq: 299 });
    await sessions.close();
    storage = new TypeOrmSessionStorage(bench.options);
    await bench.run(`UPDATE agent_session_checkpoints SET content = REPLACE(content, '"n":55', '"n":54')`);
    const { findings } = await diagnose({ storage, appName: 'long', repair: true });
    expect(findings).toEqual([expect.objectContaining({ code: 'CHECKPOINT_DIFFERS', repaired: true })]);
    expect((await diagnose({ storage, appName: 'long' })).findings).toEqual([]);
    const key = { appName: 'long', userId: 'ann', sessionId: 's' };
    const { checkpoint } = (await storage.read({ key, checkpointAt: 300 })) ?? {};
    expect(checkpoint).toMatchObject({ seq: 256, text: expect.stringContaining('"n":55') as string });
  });
});
