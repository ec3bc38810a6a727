import type { GroupedEvents, GroupedEventsRequest } from '../../rebuild.js';
import { findLiveSession } from '../sql/session-rows.js';
import { sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';

/** The groups of events as their rows have them. */
export async function groupedEvents(
  transaction: SqlTransaction,
  { key, range: { from, to } }: GroupedEventsRequest,
): Promise<readonly GroupedEvents[] | undefined> {
  const session = await findLiveSession(transaction, key);
  if (!session) return undefined;
  const rows = await transaction.rows<{ seq: number; event_group: string }>(sql`
    SELECT seq, event_group FROM ${transaction.tables.events}
    WHERE session_pk = ${session.pk} AND seq >= ${from} AND seq <= ${to} ORDER BY seq`);
  return rows.map(({ seq, event_group: group }) => ({ group, ranges: [{ from: seq, to: seq }] }));
}
