import type { MigrationInterface } from 'typeorm';
import { CreateSessionTables1763700000000 } from './1763700000000-create-session-tables.js';
import { CreateAgendaTable1763800000000 } from './1763800000000-create-agenda-table.js';
import { AddTurnColumns1763900000000 } from './1763900000000-add-turn-columns.js';
import { AddMetadataColumn1764000000000 } from './1764000000000-add-metadata-column.js';
import { CreateSessionIndex1764100000000 } from './1764100000000-create-session-index.js';
import { CreateCheckpointsTable1764200000000 } from './1764200000000-create-checkpoints-table.js';
import { CreateConsumerTables1764300000000 } from './1764300000000-create-consumer-tables.js';
import { AddEventGroups1764400000000 } from './1764400000000-add-event-groups.js';
import { CreatePartialsTable1764500000000 } from './1764500000000-create-partials-table.js';
import { CreateUsageTables1764600000000 } from './1764600000000-create-usage-tables.js';
import { CreateComponentTables1764700000000 } from './1764700000000-create-component-tables.js';
import { AddStateSizes1764800000000 } from './1764800000000-add-state-sizes.js';

/**
 * All migrations of the session store, in order, for a DataSource of your own. Not read-only, since TypeORM asks for a
 * list that it may change; frozen all the same.
 *
 * @example
 * new DataSource({ type: 'postgres', url, migrations: SESSION_MIGRATIONS, entities: sessionEntities('postgres') });
 */
export const SESSION_MIGRATIONS: (new () => MigrationInterface)[] = [
  CreateSessionTables1763700000000,
  CreateAgendaTable1763800000000,
  AddTurnColumns1763900000000,
  AddMetadataColumn1764000000000,
  CreateSessionIndex1764100000000,
  CreateCheckpointsTable1764200000000,
  CreateConsumerTables1764300000000,
  AddEventGroups1764400000000,
  CreatePartialsTable1764500000000,
  CreateUsageTables1764600000000,
  CreateComponentTables1764700000000,
  AddStateSizes1764800000000,
];
Object.freeze(SESSION_MIGRATIONS);

/** Where the store notes which of its migrations have run, apart from those of the app. */
export function migrationsTableName(tablePrefix = ''): string {
  return `${tablePrefix}agent_session_migrations`;
}
