import { inBatches } from '../../../domain/batches.js';
import type { SessionRecord } from '../../../domain/session-record.js';
import type { Upkeep } from '../../planned-write.js';
import { type Sql, joinSql, sql } from '../sql/sql.js';
import type { Tables } from '../tables.js';
import { repairSession } from './repair-session.js';

/** What is done beside the log of a session. */
export interface PlannedUpkeep extends Upkeep {
  readonly pk: number;
  readonly before: SessionRecord;
  readonly after: SessionRecord;
}

/** Trims the log, keeps a checkpoint, and repairs what follows from the log. */
export function keepUp(tables: Tables, { pk, before, after, trim, checkpoint, repairs }: PlannedUpkeep): Sql[] {
  const { sessions, checkpoints } = tables;
  return [
    ...(trim
      ? [
          sql`UPDATE ${sessions} SET base_state = ${trim.baseState} WHERE pk = ${pk}`,
          ...replacePayloads(tables, pk, before.firstSeq, trim.digests),
          sql`DELETE FROM ${checkpoints} WHERE session_pk = ${pk} AND seq < ${after.firstSeq - 1}`,
        ]
      : []),
    ...(checkpoint
      ? [
          sql`DELETE FROM ${checkpoints} WHERE session_pk = ${pk} AND seq = ${checkpoint.seq}`,
          sql`INSERT INTO ${checkpoints} (session_pk, seq, content) VALUES (${pk}, ${checkpoint.seq}, ${checkpoint.text})`,
        ]
      : []),
    ...(repairs ? repairSession(tables, pk, repairs) : []),
  ];
}

/** Statements limit bound values, and a database may compare each row with each case. */
const DIGESTS_PER_UPDATE = { items: 100 };

/** The ids of trimmed events stay, so that a repeated append is still recognised. */
function replacePayloads({ events }: Tables, pk: number, firstSeq: number, digests: readonly string[]): Sql[] {
  const numbered = digests.map((digest, index) => ({ seq: firstSeq + index, digest }));
  return inBatches(numbered, DIGESTS_PER_UPDATE).map((some) => {
    const cases = some.map(({ seq, digest }) => sql`WHEN ${seq} THEN ${digest}`);
    return sql`
      UPDATE ${events} SET payload = NULL, digest = CASE seq ${joinSql(cases, ' ')} END
      WHERE session_pk = ${pk} AND seq BETWEEN ${some[0]?.seq ?? 0} AND ${some.at(-1)?.seq ?? 0}`;
  });
}
