import { inBatches } from '../../../domain/batches.js';
import { payloadChecksum } from '../../../domain/event-digest.js';
import type { EventGroup, Repairs } from '../../rebuild.js';
import { type Sql, sql, sqlList } from '../sql/sql.js';
import type { Tables } from '../tables.js';

/** Replaces what follows from the log of a session. */
export function repairSession(
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
