import type { ReadRequest, StoredSession } from '../session-storage.js';
import { readEvents } from './read-events.js';
import { readState } from './read-state.js';
import { type FoundSession, findLiveSession } from './session-lookup.js';
import { sql } from './sql.js';
import type { SqlTransaction } from './sql-transaction.js';

export async function readSession(
  transaction: SqlTransaction,
  request: ReadRequest,
): Promise<StoredSession | undefined> {
  const session = await findLiveSession(transaction, request.key);
  if (!session) return undefined;
  const { summarySeq } = session.record.marks;
  const [summary] =
    request.withSummary && summarySeq > 0
      ? await readEvents(transaction, session, { ranges: [{ from: summarySeq, to: summarySeq }] })
      : [];
  return {
    record: session.record,
    now: transaction.now,
    events: request.window ? await readEvents(transaction, session, request.window) : [],
    ...(request.withState && (await readState(transaction, session))),
    ...(summary && { summary }),
    ...(request.withBase && { baseState: await readBaseState(transaction, session) }),
  };
}

async function readBaseState(transaction: SqlTransaction, { pk }: FoundSession): Promise<string> {
  const rows = await transaction.rows<{ base_state: string }>(
    sql`SELECT base_state FROM ${transaction.tables.sessions} WHERE pk = ${pk}`,
  );
  return rows[0]?.base_state ?? '{}';
}
