import { turnOutcome } from '../../../domain/turn-rules.js';
import type { TurnOutcome, TurnRequest } from '../../../domain/turn.js';
import { lockSession } from '../sql/session-rows.js';
import { sql } from '../sql/sql.js';
import type { SqlTransaction } from '../sql/transaction.js';

/** Begins, renews or ends the turn of a session. The lock makes it wait for appends that are being committed. */
export async function turnSession(transaction: SqlTransaction, request: TurnRequest): Promise<TurnOutcome> {
  const session = await lockSession(transaction, request.key);
  const outcome = turnOutcome(request, session?.record, transaction.now);
  if (!session || outcome.kind !== 'changed') return outcome;
  const { number, token, holder, requestId, expiresAt } = outcome.turn;
  transaction.addToCommit([
    sql`
      UPDATE ${transaction.tables.sessions} SET
        turn_number = ${number}, turn_token = ${token}, turn_holder = ${holder},
        turn_request = ${requestId}, turn_expires_at = ${expiresAt}
      WHERE pk = ${session.pk}`,
  ]);
  return outcome;
}
