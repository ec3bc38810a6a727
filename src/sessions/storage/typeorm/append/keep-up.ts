import { inBatches } from '../../../domain/stored/batches.js';
import { payloadChecksum } from '../../../domain/write/event-digest.js';
import type { SessionRecord } from '../../../domain/stored/session-record.js';
import type { Upkeep } from '../../planned-write.js';
import type { EventGroup, Repairs } from '../../rebuild.js';
import { type Sql, joinSql, sql, sqlList } from '../sql/sql.js';
import type { Tables } from '../tables.js';

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

/** Replaces what follows from the log of a session. */
function repairSession(
  tables: Tables,
  pk: number,
  { events = [], removeCheckpoints = [], anchors = [], groups = [] }: Repairs,
): Sql[] {
  return [
    ...events.map(
      ({ seq, payload }) =>
        sql`UPDATE ${tables.events} SET payload = ${payload}, digest = ${payloadChecksum(payload)}, anchor = 0
            WHERE session_pk = ${pk} AND seq = ${seq}`,
    ),
    ...inBatches(removeCheckpoints).map(
      (seqs) => sql`DELETE FROM ${tables.checkpoints} WHERE session_pk = ${pk} AND seq IN (${sqlList(seqs)})`,
    ),
    ...inBatches(anchors).map(
      (seqs) => sql`UPDATE ${tables.events} SET anchor = 1 WHERE session_pk = ${pk} AND seq IN (${sqlList(seqs)})`,
    ),
    ...groups.flatMap((group) => setGroup(tables, pk, group)),
  ];
}

function setGroup({ events }: Tables, pk: number, { group, ranges }: EventGroup): Sql[] {
  return ranges.map(
    ({ from, to }) =>
      sql`UPDATE ${events} SET event_group = ${group} WHERE session_pk = ${pk} AND seq >= ${from} AND seq <= ${to}`,
  );
}
