import { payloadChecksum } from '../../src/storage.js';
import { SESSIONS } from '../../src/sessions/storage/typeorm/schema/session-tables.js';
import type { EventInput } from '../../src/sessions/domain/event/event.js';
import { eventMaker } from './commit-events.js';
import { aroundTimes, countersLine, updatesOfRecords } from './record-lines.js';
import type { RawConnection, SqlServerName } from './sql-servers.js';

const ROWS_A_STATEMENT = 1_000;

/** Inserts events after the last one of the oldest session, without the store. */
export async function fillSqlLog(
  raw: RawConnection,
  count: number,
  eventAt: (seq: number) => EventInput,
): Promise<void> {
  const makeEvent = eventMaker();
  const now = Date.now();
  const [session] = await raw.query('SELECT pk, last_seq, record FROM agent_sessions ORDER BY pk LIMIT 1');
  const first = Number(session?.last_seq) + 1;
  for (let start = first; start < first + count; start += ROWS_A_STATEMENT) {
    const rows = Array.from({ length: Math.min(ROWS_A_STATEMENT, first + count - start) }, (_, index) => {
      const { id, anchor, group = '', payload } = makeEvent(eventAt(start + index), `e-${start + index}`);
      const values = [
        session?.pk,
        start + index,
        quoted(id),
        quoted(payloadChecksum(payload)),
        now,
        now,
        anchor ? 1 : 0,
        quoted(group),
        quoted(payload),
      ];
      return `(${values.join()})`;
    });
    await raw.query(`
      INSERT INTO agent_session_events (session_pk, seq, event_id, digest, appended_at, high_water, anchor, event_group, payload)
      VALUES ${rows.join()}`);
  }
  const last = first + count - 1;
  const update = updatesOfRecords(session ? [session] : [], (lineOf) => ({
    last,
    tip: last,
    counters: countersLine({ events: last }),
    water: now,
    stamp: Number(lineOf('stamp')) + 1,
  }));
  for (const statement of update) await raw.query(statement);
}

/** Inserts copies of the oldest session, created later, updated in earlier minutes, and without events. Half of them have its user. */
export async function fillSqlSessions(raw: RawConnection, server: SqlServerName, count: number): Promise<void> {
  const numbers = server === 'postgres' ? `(SELECT generate_series(1, ${count}) AS seq)` : `seq_1_to_${count}`;
  const [oldest] = await raw.query('SELECT record FROM agent_sessions ORDER BY pk LIMIT 1');
  const [between, after] = aroundTimes(oldest?.record).map(quoted);
  await raw.query(`
    INSERT INTO agent_sessions (app_name, user_id, session_id, create_time, last_update_time, update_minute, record, ${COPIED})
    SELECT app_name, CASE n.seq % 2 WHEN 0 THEN user_id ELSE CONCAT('u-', n.seq) END, CONCAT('other-', n.seq),
      create_time + 1, last_update_time - n.seq * 60000, update_minute - n.seq,
      CONCAT(create_time + 1, ${between}, last_update_time - n.seq * 60000, ${after}), ${COPIED}
    FROM (SELECT * FROM agent_sessions ORDER BY pk LIMIT 1) AS s CROSS JOIN ${numbers} n`);
  await raw.query(`
    INSERT INTO agent_session_index (session_pk, entry, app_name, user_id, session_id, create_time)
    SELECT s.pk, i.entry, s.app_name, s.user_id, s.session_id, s.create_time
    FROM agent_sessions s
    CROSS JOIN (SELECT entry FROM agent_session_index WHERE session_pk = (SELECT MIN(pk) FROM agent_sessions)) AS i
    WHERE s.session_id LIKE 'other-%'`);
}

/** Fills the small tables, so that an index is cheaper than a scan. */
export async function fillSqlState(raw: RawConnection, server: SqlServerName, count: number): Promise<void> {
  const numbers = server === 'postgres' ? `(SELECT generate_series(1, ${count}) AS seq)` : `seq_1_to_${count}`;
  await raw.query(`
    INSERT INTO agent_shared_scopes (app_name, user_id, expires_at, state_bytes)
    SELECT 'filled', CONCAT('u-', seq), 8640000000000000, 2 FROM ${numbers} n`);
  await raw.query(`
    INSERT INTO agent_shared_state (scope_pk, name, value)
    SELECT pk, 'k', '1' FROM agent_shared_scopes WHERE app_name = 'filled'`);
  await raw.query(`
    INSERT INTO agent_session_state (session_pk, name, value)
    SELECT pk, CONCAT('filled', pk), '1' FROM agent_sessions`);
  await raw.query(`
    INSERT INTO agent_entries (space, name, stamp, entry_rank, since_time, expires_at, content)
    SELECT CONCAT('space-', MOD(seq, 10)), CONCAT('n-', seq), 1, seq, 0, 8640000000000000, '' FROM ${numbers} n`);
}

const GIVEN = new Set(
  ['app_name', 'user_id', 'session_id', 'create_time', 'last_update_time', 'update_minute', 'record'].concat('pk'),
);
const COPIED = Object.keys(SESSIONS.columns)
  .filter((name) => !GIVEN.has(name))
  .join();

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
