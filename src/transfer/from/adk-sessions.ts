import { TransferFileError } from '../transfer-errors.js';
import type { TransferRecord } from '../transfer-records.js';
import { eventOfSnakeCase } from './adk-event.js';
import { eventOfColumns } from './event-columns.js';
import {
  type ForeignDatabase,
  type ForeignRow,
  columnsOf,
  query,
  recordOf,
  rowsOf,
  timeOf,
  textOf,
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
  const columns = await columnsOf(database, 'events');
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
  for await (const session of rowsOf(database, 'SELECT * FROM sessions ORDER BY app_name, user_id, id')) {
    const key = { appName: textOf(session.app_name), userId: textOf(session.user_id), sessionId: textOf(session.id) };
    const statement = `SELECT * FROM events WHERE app_name = ? AND user_id = ? AND session_id = ? ORDER BY timestamp, ${ties}`;
    yield* recordsOrBad(key, () =>
      foreignRecords({
        ...key,
        createTime: timeOf(session.create_time) ?? 0,
        lastUpdateTime: timeOf(session.update_time),
        state: recordOf(session.state),
        async *events() {
          yield* earlierEvents(session);
          yield* inOrder(rowsOf(database, statement, [key.appName, key.userId, key.sessionId]), readEvent);
        },
      }),
    );
  }
  for await (const row of rowsOf(database, 'SELECT * FROM user_states ORDER BY app_name, user_id')) {
    const owner = { appName: textOf(row.app_name), userId: textOf(row.user_id) };
    yield* recordsOrBad(owner, () => [stateRecord(owner, recordOf(row.state))]);
  }
  for (const row of await query(database, 'SELECT * FROM app_states')) {
    const owner = { appName: textOf(row.app_name) };
    yield* recordsOrBad(owner, () => [stateRecord(owner, recordOf(row.state))]);
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
    const time = timeOf(row.timestamp);
    if (time !== moment) {
      yield* sorted();
      [moment, events] = [time, []];
    }
    events.push(readEvent(row));
  }
  yield* sorted();
}

function eventOfData(row: ForeignRow): ForeignEvent {
  const event = eventOfSnakeCase(recordOf(row.event_data));
  return {
    ...event,
    id: textOf(row.id),
    invocationId: textOf(row.invocation_id),
    timestamp: event.timestamp ?? timeOf(row.timestamp),
  };
}
