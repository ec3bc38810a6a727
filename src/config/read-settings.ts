import { foreignUrlHint } from './foreign-url.js';
import { isServerUrl } from './server-url.js';
import { type VariableSettings, kindOf } from './setting.js';
import type { TlsChoice } from './tls-settings.js';

/** Settings of a read replica of a SQL server. */
export interface ReadSettings {
  /** `mysql://`, `mariadb://` or `postgres://`: the database of the same name in the replica. */
  readonly url: string;
  /** TLS of connections to it. Default: as in the options of its URL, else off. */
  readonly tls?: TlsChoice | undefined;
  /** Maximum number of connections to it. Default: 10. */
  readonly poolSize?: number | undefined;
  /** Timeout of a read. Default: that of the store. */
  readonly timeLimitMs?: number | undefined;
  /** Whether to use prepared statements of PostgreSQL. Default: true, but false with `pooler`. */
  readonly preparedStatements?: boolean | undefined;
  /** Says that a pooler is in front of it. */
  readonly pooler?: 'transaction' | undefined;
  /** Further options of the driver. */
  readonly driverOptions?: Readonly<Record<string, unknown>> | undefined;
  /** How far it may be behind. Default: 5,000. */
  readonly maxLagMs?: number | undefined;
}

/** The variable of a read replica. */
export const READ_VARIABLES: VariableSettings = {
  SESSIONS_DATABASE_READ_URL: {
    kind: {
      ...kindOf('mysql://user:password@host:port/database, mariadb://… or postgres://…', isServerUrl),
      hint: foreignUrlHint,
    },
    meaning: 'URL of a read replica of the database, for lists, search and other reads that may be a little old',
    otherwise: 'no replica',
    isSecret: true,
  },
};
