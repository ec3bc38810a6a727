import type { Sql } from './sql.js';
import type { Tables } from './tables.js';

/** A log, and how far it has come. */
export interface AnnouncedLog {
  readonly pk: number;
  readonly lastSeq: number;
}

/** How a database tells other processes what happened, where it can. */
export interface Announcements {
  /** For after the commit. */
  ofAppends(logs: readonly AnnouncedLog[]): Sql;
  /** For before the deletion, to be heard with its commit. */
  ofDeletion(tables: Tables, where: Sql): Sql;
}
