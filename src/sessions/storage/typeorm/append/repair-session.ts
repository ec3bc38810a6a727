import { inBatches } from '../../../domain/batches.js';
import { payloadChecksum } from '../../../domain/event-digest.js';
import { USAGE_COUNTS } from '../../../domain/usage.js';
import type { EventGroup, Repairs } from '../../rebuild.js';
import type { Dialect } from '../sql/dialect.js';
import { type Sql, sql, sqlList } from '../sql/sql.js';
import { writeUsage } from '../state/write-usage.js';
import type { Tables } from '../tables.js';

/** Replaces what follows from the log of a session. */
export function repairSession(
  dialect: Dialect,
  tables: Tables,
  pk: number,
  { events = [], usage, removeCheckpoints = [], anchors = [], groups = [] }: Repairs,
): Sql[] {
  const ofSessions = (usage ?? []).map((sums) => [pk, sums.model, ...USAGE_COUNTS.map((name) => sums[name])]);
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
    ...(usage ? [sql`DELETE FROM ${tables.sessionUsage} WHERE session_pk = ${pk}`] : []),
    ...writeUsage(dialect, tables, { ofSessions, shared: [] }),
  ];
}

function setGroup({ events }: Tables, pk: number, { group, ranges }: EventGroup): Sql[] {
  return ranges.map(
    ({ from, to }) =>
      sql`UPDATE ${events} SET event_group = ${group} WHERE session_pk = ${pk} AND seq >= ${from} AND seq <= ${to}`,
  );
}
