import type { DataSource } from 'typeorm';
import { SessionEventRow } from './entities/session-event.entity.js';
import { SessionStateRow } from './entities/session-state.entity.js';
import { SessionRow } from './entities/session.entity.js';
import { SharedScopeRow } from './entities/shared-scope.entity.js';
import { SharedStateRow } from './entities/shared-state.entity.js';
import { Sql } from './sql.js';

/** All entities of the session store, for a DataSource of your own. */
export const SESSION_ENTITIES = [SessionRow, SessionEventRow, SessionStateRow, SharedScopeRow, SharedStateRow] as const;

/** The names of the tables, quoted, with whatever prefix the DataSource gives them. */
export interface Tables {
  readonly sessions: Sql;
  readonly events: Sql;
  readonly sessionState: Sql;
  readonly sharedScopes: Sql;
  readonly sharedState: Sql;
}

export function tablesOf(dataSource: DataSource): Tables {
  const nameOf = (entity: (typeof SESSION_ENTITIES)[number]): Sql =>
    new Sql(dataSource.driver.escape(dataSource.getMetadata(entity).tableName));
  return {
    sessions: nameOf(SessionRow),
    events: nameOf(SessionEventRow),
    sessionState: nameOf(SessionStateRow),
    sharedScopes: nameOf(SharedScopeRow),
    sharedState: nameOf(SharedStateRow),
  };
}

/** A name that is unique in the whole database, such as that of an index, with the same prefix. */
export function prefixedName({ driver, options }: DataSource, name: string): Sql {
  return new Sql(driver.escape(`${options.entityPrefix ?? ''}${name}`));
}
