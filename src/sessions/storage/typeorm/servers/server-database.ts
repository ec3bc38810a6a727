import { DataSource } from 'typeorm';
import { InvalidInputError } from '../../../domain/errors.js';
import type { OpenDatabase } from '../lazy-database.js';
import { mysqlServer } from '../mysql/mysql-server.js';
import { postgresServer } from '../postgres/postgres-server.js';
import { openPool } from './open-pool.js';
import { openingFailure } from './opening-failure.js';
import type { ServerAddress, ServerKind } from './server-kind.js';

/** Connects to a server and brings its tables up to date. */
export async function openServer(address: ServerAddress): Promise<OpenDatabase> {
  const kind = kindOf(address.url);
  const dataSource = new DataSource(kind.dataSourceOptions(address));
  try {
    await dataSource.initialize();
    await kind.check(dataSource);
    await kind.migrate(dataSource);
  } catch (error) {
    if (dataSource.isInitialized) await dataSource.destroy().catch(() => undefined);
    throw openingFailure(error, address);
  }
  return openPool(dataSource, {
    ...address,
    settings: kind.settings,
    isPreparing: address.preparedStatements ?? true,
    // Nothing is under way any more; a goodbye that does not get through is nobody's problem.
    close: () => dataSource.destroy().catch(() => undefined),
  });
}

function kindOf(url: string): ServerKind {
  if (URL.canParse(url) && isDecodable(url)) {
    if (/^postgres(ql)?:/i.test(url)) return postgresServer;
    if (/^(mysql|mariadb):/i.test(url)) return mysqlServer;
  }
  throw new InvalidInputError('must be mysql://…, mariadb://… or postgres://…, with % as %25', 'url');
}

function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}
