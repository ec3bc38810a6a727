import type { DataSource } from 'typeorm';
import { Sql } from './sql.js';

const TABLE_NAMES = {
  sessions: 'agent_sessions',
  events: 'agent_session_events',
  sessionState: 'agent_session_state',
  sharedScopes: 'agent_shared_scopes',
  sharedState: 'agent_shared_state',
  leases: 'agent_leases',
  agenda: 'agent_agenda',
} as const;

/** The index that finds a session by its ids. */
export const SESSIONS_KEY = 'agent_sessions_key';

type TableKey = keyof typeof TABLE_NAMES;

/** The names of the tables, quoted, with the schema and the prefix that the DataSource gives them. */
export type Tables = Readonly<Record<TableKey, Sql>>;

/** {@link SESSIONS_KEY}, quoted, with the prefix. */
export function sessionsKeyOf(dataSource: DataSource): Sql {
  return new Sql(dataSource.driver.escape(prefixedName(dataSource, SESSIONS_KEY)));
}

export function tablesOf(dataSource: DataSource): Tables {
  const entries = Object.entries(tableNamesOf(dataSource)).map(([key, name]) => {
    const path = [schemaOf(dataSource), name].flatMap((part) => (part ? [dataSource.driver.escape(part)] : []));
    return [key, new Sql(path.join('.'))] as const;
  });
  return Object.fromEntries(entries) as unknown as Tables;
}

/** The same names as they are, for TypeORM to quote. */
export function tableNamesOf(dataSource: DataSource): Readonly<Record<TableKey, string>> {
  const entries = Object.entries(TABLE_NAMES).map(([key, name]) => [key, prefixedName(dataSource, name)] as const);
  return Object.fromEntries(entries) as Record<TableKey, string>;
}

/** A name that is unique in a whole database, such as that of an index, with the same prefix. */
export function prefixedName({ options }: DataSource, name: string): string {
  return `${options.entityPrefix ?? ''}${name}`;
}

/** The schema that a DataSource was told to use, where there are such. */
export function schemaOf({ options }: DataSource): string | undefined {
  return options.type === 'postgres' ? options.schema : undefined;
}
