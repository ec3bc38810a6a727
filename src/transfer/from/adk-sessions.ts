import { TransferFileError } from '../transfer-errors.js';
import type { TransferRecord } from '../transfer-records.js';
import { eventOfSnakeCase } from './adk-event.js';
import { eventOfColumns } from './event-columns.js';
import {
  type ForeignDatabase,
  type ForeignRow,
  readColumnNames,
  query,
  parseForeignObject,
  readForeignRows,
  parseForeignTime,
  toForeignText,
} from './foreign-database.js';
import type { ForeignEvent } from '../foreign-log.js';
import { foreignRecords, recordsOrBad, stateRecord } from '../foreign-session.js';

/**
 * The sessions in a database of Google's ADK: for Python (`DatabaseSessionService`, schemas 0 and 1), and for TypeScript.
 *
 * @example
 * const adk = new DataSource({ type: 'postgres', url: 'postgres://app@localhost/adk' });
 * await adk.initialize();
 * await importRecords(storage, adkSessions({ dialect: 'postgres', query: (sql, values) => adk.query(sql, values) }));
 */
export async function* adkSessions(database: ForeignDatabase): AsyncGenerator<TransferRecord> {
  const columns = await readColumnNames(database, 'events');
  if (!columns.has('invocation_id')) throw new TransferFileError('the database has no tables of ADK');
  const readEvent = columns.has('event_data') ? eventOfData : eventOfColumns;
  yield* sessionsWithColumns(database, readEvent);
}

/** What the schemas of ADK and of tRPC-Agent have in common. */
export async function* sessionsWithColumns(
  database: ForeignDatabase,
  readEvent: (row: ForeignRow) => ForeignEvent,
  earlierEvents: (session: ForeignRow) => readonly ForeignEvent[] = () => [],
): AsyncGenerator<TransferRecord> {
  // Events of the same time have an order of their own in SQLite only.
  const ties = database.dialect === 'sqlite' ? 'rowid' : 'id';
  for await (const session of readForeignRows(database, 'SELECT * FROM sessions ORDER BY app_name, user_id, id')) {
    const key = {
      appName: toForeignText(session.app_name),
      userId: toForeignText(session.user_id),
      sessionId: toForeignText(session.id),
    };
    const statement = `SELECT * FROM events WHERE app_name = ? AND user_id = ? AND session_id = ? ORDER BY timestamp, ${ties}`;
    yield* recordsOrBad(key, () =>
      foreignRecords({
        ...key,
        createTime: parseForeignTime(session.create_time) ?? 0,
        lastUpdateTime: parseForeignTime(session.update_time),
        state: parseForeignObject(session.state),
        async *events() {
          yield* earlierEvents(session);
          yield* inOrder(readForeignRows(database, statement, [key.appName, key.userId, key.sessionId]), readEvent);
        },
      }),
    );
  }
  for await (const row of readForeignRows(database, 'SELECT * FROM user_states ORDER BY app_name, user_id')) {
    const owner = { appName: toForeignText(row.app_name), userId: toForeignText(row.user_id) };
    yield* recordsOrBad(owner, () => [stateRecord(owner, parseForeignObject(row.state))]);
  }
  for (const row of await query(database, 'SELECT * FROM app_states')) {
    const owner = { appName: toForeignText(row.app_name) };
    yield* recordsOrBad(owner, () => [stateRecord(owner, parseForeignObject(row.state))]);
  }
}

/** ADK for TypeScript stores whole seconds on servers, and the exact times only in the events. */
async function* inOrder(
  rows: AsyncIterable<ForeignRow>,
  readEvent: (row: ForeignRow) => ForeignEvent,
): AsyncGenerator<ForeignEvent> {
  let [moment, events]: [number | undefined, ForeignEvent[]] = [undefined, []];
  const sorted = (): ForeignEvent[] => events.toSorted((a, b) => (a.timestamp ?? 0) - (b.timestamp ?? 0));
  for await (const row of rows) {
    const time = parseForeignTime(row.timestamp);
    if (time !== moment) {
      yield* sorted();
      [moment, events] = [time, []];
    }
    events.push(readEvent(row));
  }
  yield* sorted();
}

function eventOfData(row: ForeignRow): ForeignEvent {
  const event = eventOfSnakeCase(parseForeignObject(row.event_data));
  return {
    ...event,
    id: toForeignText(row.id),
    invocationId: toForeignText(row.invocation_id),
    timestamp: event.timestamp ?? parseForeignTime(row.timestamp),
  };
}
