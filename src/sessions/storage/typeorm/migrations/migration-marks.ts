import type { TableKey } from '../tables.js';

/**
 * What each migration makes last, in the order of `SESSION_MIGRATIONS`: a table, or a column of one. So the tables tell which have
 * run, wherever that is noted.
 */
export const MIGRATION_MARKS: readonly (readonly [table: TableKey, column: string])[] = [
  ['leases', 'name'],
  ['agenda', 'name'],
  ['sessions', 'turn_expires_at'],
  ['sessions', 'metadata'],
  ['sessionIndex', 'entry'],
  ['checkpoints', 'seq'],
  ['consumerWork', 'consumer'],
  ['events', 'event_group'],
  ['partials', 'number'],
  ['sharedUsage', 'shard'],
  ['componentItems', 'seq'],
  ['sharedScopes', 'state_bytes'],
];
