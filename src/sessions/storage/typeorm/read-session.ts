import type { ReadRequest, StoredSession } from '../session-storage.js';
import { readEvents } from './read-events.js';
import { readState } from './read-state.js';
import { type FoundSession, findLiveSession } from './session-lookup.js';
import { sql } from './sql.js';
import type { SqlConnection } from './sql-connection.js';
import type { Tables } from './tables.js';

export async function readSession(
  connection: SqlConnection,
  tables: Tables,
  request: ReadRequest,
  now: number,
): Promise<StoredSession | undefined> {
  const session = await findLiveSession(connection, tables, request.key, now);
  if (!session) return undefined;
  const { summarySeq } = session.record.marks;
  const [summary] =
    request.withSummary && summarySeq > 0
      ? await readEvents(connection, tables, session, { ranges: [{ from: summarySeq, to: summarySeq }] }, now)
      : [];
  return {
    record: session.record,
    now,
    events: request.window ? await readEvents(connection, tables, session, request.window, now) : [],
    ...(request.withState && (await readState(connection, tables, session, now))),
    ...(summary && { summary }),
    ...(request.withBase && { baseState: await readBaseState(connection, tables, session) }),
  };
}

async function readBaseState(connection: SqlConnection, { sessions }: Tables, { pk }: FoundSession): Promise<string> {
  const rows = await connection.rows<{ base_state: string }>(sql`SELECT base_state FROM ${sessions} WHERE pk = ${pk}`);
  return rows[0]?.base_state ?? '{}';
}
