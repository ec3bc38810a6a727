import type { NetConnectOpts } from 'node:net';
import { SessionService, type SessionServiceOptions } from '../../src/index.js';
import { type ServerOptions, TypeOrmSessionStorage } from '../../src/typeorm.js';
import { takeDatabaseWithTables } from './databases-with-tables.js';
import { mysqlOptionsOf } from '../servers/mysql-login.js';
import { sqlProblems } from './sql-integrity.js';
import { type RawConnection, type SqlDatabase, type SqlServer, type SqlServerName, sqlServers } from './sql-servers.js';
import { chosenStoreNames } from './store-names.js';
import { TcpProxy } from './tcp-proxy.js';

/** A database for one test, with stores, connections and proxies. All of them are removed at the end. */
export class SqlBench {
  readonly #closers: (() => unknown)[] = [];

  private constructor(
    readonly server: SqlServer,
    readonly database: SqlDatabase,
    private readonly removeDatabase: () => Promise<void>,
  ) {}

  /** With a new database. */
  static async open(server: SqlServer): Promise<SqlBench> {
    const database = await server.createDatabase();
    return new SqlBench(server, database, () => database.drop());
  }

  /** With a database whose tables exist, which is much faster. Other tests use it afterwards. */
  static async openWithTables(server: SqlServer): Promise<SqlBench> {
    const { database, giveBack } = await takeDatabaseWithTables(server);
    return new SqlBench(server, database, giveBack);
  }

  get name(): SqlServerName {
    return this.server.name;
  }

  storage(options: Partial<ServerOptions> = {}): TypeOrmSessionStorage {
    const storage = new TypeOrmSessionStorage({ ...this.database.storageOptions, ...options });
    this.closeInTheEnd(() => storage.close());
    return storage;
  }

  /** A service with its own store. */
  sessions({
    service,
    ...options
  }: Partial<ServerOptions> & { service?: Omit<SessionServiceOptions, 'storage'> } = {}): SessionService {
    return new SessionService({ ...service, storage: this.storage(options) });
  }

  /** A connection without the store. */
  async connect(): Promise<RawConnection> {
    const connection = await this.database.connect();
    this.closeInTheEnd(() => connection.close());
    return connection;
  }

  /** A proxy in front of the server, and the options of a store behind it. */
  async proxy(): Promise<{ proxy: TcpProxy; behind: Partial<ServerOptions> }> {
    const proxy = await TcpProxy.start(this.#target());
    this.closeInTheEnd(() => proxy.stop());
    const url = new URL(this.database.storageOptions.url);
    url.hostname = '127.0.0.1';
    url.port = `${proxy.port}`;
    return { proxy, behind: { url: url.href, driverOptions: {} } };
  }

  /** Throws if the tables are inconsistent. */
  async checkIntegrity(): Promise<void> {
    const connection = await this.connect();
    const problems = await sqlProblems((query) => connection.query(query));
    if (problems.length > 0) throw new Error(problems.join('\n'));
  }

  closeInTheEnd(close: () => unknown): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    try {
      for (const close of this.#closers.splice(0).toReversed()) await close();
    } finally {
      await this.removeDatabase();
    }
  }

  #target(): NetConnectOpts {
    const address = this.server.address();
    if (this.name === 'mariadb') {
      const { host, port, socketPath } = mysqlOptionsOf(address);
      return socketPath ? { path: socketPath } : { host, port };
    }
    const { hostname: host, port } = new URL(address);
    return { host, port: Number(port || 5432) };
  }
}

/**
 * Describes tests of SQL servers, for each server that `STORES` selects; `$name` in the
 * title is its name. Each test gets a new bench.
 */
export function describeSqlServers(
  title: string,
  define: (bench: () => SqlBench) => void,
  names: readonly SqlServerName[] = ['mariadb', 'postgres'],
  open: (server: SqlServer) => Promise<SqlBench> = SqlBench.open,
): void {
  const chosen = sqlServers.filter(({ name }) => names.includes(name) && chosenStoreNames().includes(name));
  for (const server of chosen) {
    describe(title.replace('$name', server.name), () => {
      let bench: SqlBench | undefined;
      beforeEach(async () => {
        bench = await open(server);
      });
      afterEach(() => bench?.close());
      define(() => {
        if (!bench) throw new Error('A bench exists only while a test runs');
        return bench;
      });
    });
  }
  if (chosen.length === 0) it('is not selected by STORES', () => expect(chosen).toEqual([]));
}

/** The same for tests that need the tables and do not change them. */
export function describeSqlServersWithTables(
  title: string,
  define: (bench: () => SqlBench) => void,
  names?: readonly SqlServerName[],
): void {
  describeSqlServers(title, define, names, SqlBench.openWithTables);
}
