import type Libsql from 'libsql';
import { payloadChecksum } from '../../src/storage.js';
import type { EventInput } from '../../src/sessions/domain/event/event.js';
import { aroundTimes, countersLine, updatesOfRecords } from './record-lines.js';
import { eventMaker } from './commit-events.js';

/** Inserts events after the last one of the only session, in one transaction, without the store. */
export function fillLog(connection: Libsql.Database, count: number, eventAt: (seq: number) => EventInput): void {
  const makeEvent = eventMaker();
  const now = Date.now();
  const session = connection.prepare('SELECT pk, last_seq, record FROM agent_sessions').get() as {
    pk: number;
    last_seq: number;
    record: string;
  };
  const last = session.last_seq + count;
  const insert = connection.prepare(`
    INSERT INTO agent_session_events (session_pk, seq, event_id, digest, appended_at, high_water, anchor, event_group, payload)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  connection.exec('BEGIN IMMEDIATE');
  for (let seq = session.last_seq + 1; seq <= last; seq++) {
    const { id, anchor, group, payload } = makeEvent(eventAt(seq), `e-${seq}`);
    insert.run(session.pk, seq, id, payloadChecksum(payload), now, now, anchor ? 1 : 0, group, payload);
  }
  const update = updatesOfRecords([session], (lineOf) => ({
    last,
    tip: last,
    counters: countersLine({ events: last }),
    water: now,
    stamp: Number(lineOf('stamp')) + 1,
  }));
  connection.exec(update.join(';'));
  connection.exec('COMMIT');
}

/** Inserts copies of the only session, created later, updated in earlier minutes, and without events. Half of them have its user. */
export function fillSessions(connection: Libsql.Database, count: number): void {
  const { record } = connection.prepare('SELECT record FROM agent_sessions').get() as { record: string };
  const [between, after] = aroundTimes(record);
  const changed = {
    user_id: "CASE n % 2 WHEN 0 THEN user_id ELSE 'u-' || n END",
    session_id: "'other-' || n",
    create_time: 'create_time + 1',
    last_update_time: 'last_update_time - n * 60000',
    update_minute: 'update_minute - n',
    record: `(create_time + 1) || '${between}' || (last_update_time - n * 60000) || '${after}'`,
  };
  const columns = connection.prepare('PRAGMA table_info(agent_sessions)').all() as { name: string }[];
  const copied = columns.map(({ name }) => name).filter((name) => !['pk', ...Object.keys(changed)].includes(name));
  connection.exec(`
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    INSERT INTO agent_sessions (${[...Object.keys(changed), ...copied].join()})
    SELECT ${[...Object.values(changed), ...copied].join()}
    FROM numbers CROSS JOIN (SELECT * FROM agent_sessions LIMIT 1)`);
  connection.exec(`
    INSERT INTO agent_session_index (session_pk, entry, app_name, user_id, session_id, create_time)
    SELECT s.pk, i.entry, s.app_name, s.user_id, s.session_id, s.create_time
    FROM agent_sessions s CROSS JOIN (SELECT entry FROM agent_session_index) i WHERE s.session_id LIKE 'other-%'`);
}
