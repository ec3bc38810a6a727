import type { DataSource, DataSourceOptions } from 'typeorm';
import type { ServerOptions } from '../typeorm-options.js';

/** A server that was told where it is and within what time it has to answer. */
export type ServerAddress = ServerOptions & { readonly timeLimitMs: number };

/** What takes one kind of server to open. */
export interface ServerKind {
  dataSourceOptions(address: ServerAddress): DataSourceOptions;
  /** Refuses a server that would not keep what it is given as it is. */
  check(dataSource: DataSource): Promise<void>;
  /** Brings the tables up to date; of several processes that try, one does and the others wait. */
  migrate(dataSource: DataSource): Promise<void>;
  /** Said to every new connection, if anything. */
  readonly settings?: readonly string[];
}
