import { InvalidInputError } from '../../sessions/domain/errors.js';
import { TransferFileError } from '../../sessions/domain/transfer-errors.js';
import type { TransferRecord } from '../transfer-records.js';
import {
  type ForeignDatabase,
  type ForeignRow,
  bytesOf,
  columnsOf,
  query,
  recordOf,
  rowsOf,
  textOf,
  timeOf,
} from './foreign-database.js';
import { entriesOf, foreignRecords, recordsOrBad } from './foreign-session.js';
import { stateOfGo, valueOf } from './trpc-agent-go-event.js';
import { summaryOf, withSummary } from './trpc-agent-go-summary.js';

/** How the tables are named. */
export interface TrpcAgentGoOptions {
  /** The prefix of the tables. Default: none. */
  readonly tablePrefix?: string | undefined;
}

/**
 * The sessions in a SQL database of tRPC-Agent for Go (MySQL, PostgreSQL, SQLite). The summary of the whole session becomes a summary
 * of the events that it covers; summaries of branches and tracks are left out, as are deleted rows.
 *
 * @example await importRecords(storage, trpcAgentGoSessions({ dialect: 'mysql', query: (sql, values) => trpc.query(sql, values) }));
 */
export async function* trpcAgentGoSessions(
  database: ForeignDatabase,
  { tablePrefix = '' }: TrpcAgentGoOptions = {},
): AsyncGenerator<TransferRecord> {
  if (!/^\w*$/.test(tablePrefix)) throw new InvalidInputError('must be letters, digits and _', 'tablePrefix');
  const table = (name: string): string => `${tablePrefix}${name}`;
  const columns = await columnsOf(database, table('session_states'));
  if (!columns.has('session_id')) throw new TransferFileError('the database has no tables of tRPC-Agent for Go');

  // Creations at the same moment may have left several rows of a session.
  const sessions = `SELECT * FROM ${table('session_states')} WHERE id IN (SELECT MAX(id) FROM ${table('session_states')}
    WHERE deleted_at IS NULL GROUP BY app_name, user_id, session_id) ORDER BY id`;
  // Earlier events are those of a session that had this id before.
  const events = `SELECT event FROM ${table('session_events')} WHERE app_name = ? AND user_id = ? AND session_id = ?
    AND deleted_at IS NULL AND created_at >= (SELECT created_at FROM ${table('session_states')} WHERE id = ?) ORDER BY id`;
  const summaries = `SELECT summary FROM ${table('session_summaries')} WHERE app_name = ? AND user_id = ? AND session_id = ?
    AND filter_key = '' AND deleted_at IS NULL`;
  for await (const row of rowsOf(database, sessions)) {
    const key = { appName: textOf(row.app_name), userId: textOf(row.user_id), sessionId: textOf(row.session_id) };
    const ids = [key.appName, key.userId, key.sessionId];
    yield* recordsOrBad(key, async function* () {
      const stored = recordOf(row.state);
      const createTime = timeOf(stored.createdAt) ?? timeOfColumn(row.created_at) ?? 0;
      const [found] = await query(database, summaries, ids);
      const summary = found && summaryOf(recordOf(found.summary), createTime);
      yield* foreignRecords({
        ...key,
        createTime,
        lastUpdateTime: timeOf(stored.updatedAt) ?? timeOfColumn(row.updated_at),
        expiresAt: timeOfColumn(row.expires_at),
        state: stateOfGo(stored.state),
        async *events() {
          yield* withSummary(eventColumns(rowsOf(database, events, [...ids, textOf(row.id)])), summary);
        },
      });
    });
  }
  yield* sharedStates(database, `SELECT * FROM ${table('user_states')} WHERE deleted_at IS NULL ORDER BY id`);
  yield* sharedStates(database, `SELECT * FROM ${table('app_states')} WHERE deleted_at IS NULL ORDER BY id`);
}

async function* eventColumns(rows: AsyncIterable<ForeignRow>): AsyncGenerator {
  for await (const { event } of rows) yield event;
}

/** A row for each key. */
async function* sharedStates(database: ForeignDatabase, statement: string): AsyncGenerator<TransferRecord> {
  for await (const row of rowsOf(database, statement)) {
    const bytes = bytesOf(row.value);
    const text = bytes ? Buffer.from(bytes).toString() : textOf(row.value);
    const owner = {
      appName: textOf(row.app_name),
      ...(row.user_id !== undefined && { userId: textOf(row.user_id) }),
    };
    const entries = entriesOf({ [textOf(row.key)]: valueOf(row.value === null ? undefined : text) });
    const line = { kind: 'state', ...owner, expiresAt: timeOfColumn(row.expires_at), entries } as const;
    yield* recordsOrBad(owner, () => [line]);
  }
}

/** Numbers above are nanoseconds, as in SQLite. */
const FEWEST_NANOSECONDS = 1e16;

function timeOfColumn(value: unknown): number | undefined {
  const number = typeof value === 'number' || typeof value === 'bigint' ? Number(value) : 0;
  return number > FEWEST_NANOSECONDS ? Math.floor(number / 1e6) : timeOf(value);
}
