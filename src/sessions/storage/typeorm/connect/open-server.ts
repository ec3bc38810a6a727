import { DataSource } from 'typeorm';
import { ConfigurationError } from '../../../../config/configuration-error.js';
import { isDecodable } from '../../../../config/redis-address.js';
import { serverPlaceOf } from '../../../../config/store-place.js';
import { databaseTls, urlForDriver } from '../../../../config/url-options.js';
import { InvalidInputError } from '../../../domain/errors/errors.js';
import { withTimeout } from '../../../domain/process/timeouts.js';
import { type ListeningClient, newClientAt } from '../live/postgres-listener.js';
import type { ServerOptions } from '../typeorm-options.js';
import { ConnectionTracker } from './connection-pool.js';
import type { OpenDatabase } from './lazy-database.js';
import { mysqlServer } from './mysql/mysql-server.js';
import { openPooledDatabase } from './open-pool.js';
import { openingFailure } from './opening-failure.js';
import { checkListenUrl } from './postgres/pooler.js';
import { APPLICATION_NAME, encryption, postgresServer } from './postgres/postgres-server.js';
import type { RunQuery, ServerAddress, ServerKind } from './server-kind.js';

/** Includes waiting for the migrations of other processes. */
const MIGRATION_LIMIT_MS = 90_000;
const LISTEN_NAMES = { url: 'listenUrl', tls: 'tls' };

/** A server, and a DataSource that is connected to it. */
interface ConnectedServer {
  readonly kind: ServerKind;
  readonly address: ServerAddress;
  readonly dataSource: DataSource;
  readonly connections: ConnectionTracker;
}

/**
 * Connects to a server and runs the migrations.
 *
 * @param check does this instead of the migrations
 */
export async function openServer(
  options: ServerOptions & { readonly timeLimitMs: number },
  check?: (dataSource: DataSource) => Promise<void>,
): Promise<OpenDatabase> {
  const server = await connectToServer(options, async ({ kind, dataSource, address: { listenUrl } }) => {
    if (listenUrl !== undefined) await checkListening({ ...options, listenUrl }, dataSource);
    await (check
      ? withTimeout(options.timeLimitMs, check(dataSource), timeoutError)
      : withTimeout(MIGRATION_LIMIT_MS, kind.migrate(dataSource), timeoutError));
  });
  const { address, kind, dataSource } = server;
  return openPooledDatabase(dataSource, {
    ...address,
    settings: kind.settings,
    server: serverPlaceOf(address).server,
    usesPreparedStatements: address.preparedStatements ?? address.pooler === undefined,
    listening: listeningOf(options, dataSource),
    creates: check === undefined,
    close: () => disconnect(server),
  });
}

type Options = ServerOptions & { readonly timeLimitMs: number };

/** Behind a pooler, notifications come only from a listenUrl. */
function listeningOf(options: Options, dataSource: DataSource): 'never' | (() => ListeningClient) | undefined {
  const { pooler, listenUrl } = options;
  if (listenUrl !== undefined) return () => directClient({ ...options, listenUrl }, dataSource);
  return pooler === undefined ? undefined : 'never';
}

type Listening = Options & { readonly listenUrl: string };

function directClient(options: Listening, { driver }: DataSource): ListeningClient {
  const { tls } = databaseTls({ ...options, url: options.listenUrl }, LISTEN_NAMES);
  const connectionString = urlForDriver(options.listenUrl);
  const named = { connectionString, application_name: APPLICATION_NAME, ...encryption(connectionString, tls) };
  return newClientAt(driver, named, options.timeLimitMs);
}

async function checkListening(options: Listening, dataSource: DataSource): Promise<void> {
  const { listenUrl: url, timeLimitMs } = options;
  const { problems } = databaseTls({ ...options, url }, LISTEN_NAMES);
  if (problems.length > 0) throw new ConfigurationError(problems);
  try {
    const runQuery: RunQuery = (query) => dataSource.query(query);
    await checkListenUrl(directClient(options, dataSource), runQuery, timeoutError, timeLimitMs);
  } catch (error) {
    throw openingFailure(error, { ...options, url, tls: undefined });
  }
}

/** Connects to a server for a short work that changes nothing. */
export async function withServer<Result>(
  options: ServerOptions & { readonly timeLimitMs: number },
  work: (dataSource: DataSource) => Promise<Result>,
): Promise<Result> {
  let result: Result | undefined;
  const server = await connectToServer(options, async ({ dataSource }) => {
    result = await withTimeout(options.timeLimitMs, work(dataSource), timeoutError);
  });
  await disconnect(server);
  return result as Result;
}

async function connectToServer(
  options: ServerOptions & { readonly timeLimitMs: number },
  work: (server: ConnectedServer) => Promise<void>,
): Promise<ConnectedServer> {
  const { timeLimitMs } = options;
  const kind = findServerKind(options.url);
  checkPooler(options, kind);
  const { tls, problems } = databaseTls(options, { url: 'url', tls: 'tls' });
  if (problems.length > 0) throw new ConfigurationError(problems);
  const address: ServerAddress = { ...options, url: urlForDriver(options.url), tls };
  const dataSource = new DataSource(kind.dataSourceOptions(address));
  const connections = new ConnectionTracker();
  kind.trackConnections(dataSource, connections);
  const server = { kind, address, dataSource, connections };
  try {
    // Connecting has its own time limit. The queries after it have none.
    await withTimeout(2 * timeLimitMs, dataSource.initialize(), timeoutError);
    await withTimeout(
      timeLimitMs,
      kind.check((query) => dataSource.query(query)),
      timeoutError,
    );
    await work(server);
  } catch (error) {
    const isMute = kind === postgresServer && connections.hasAnswered;
    if (dataSource.isInitialized)
      await withTimeout(timeLimitMs, dataSource.destroy(), timeoutError).catch(() => undefined);
    connections.destroyAll();
    throw openingFailure(error, address, isMute);
  }
  return server;
}

async function disconnect({ address: { timeLimitMs }, dataSource, connections }: ConnectedServer): Promise<void> {
  // All operations have ended, so an error while closing does not matter.
  await withTimeout(timeLimitMs, dataSource.destroy(), timeoutError).catch(() => undefined);
  setTimeout(() => connections.destroyAll(), timeLimitMs).unref();
}

/** Has the code that drivers use. */
function timeoutError(): Error {
  return Object.assign(new Error('There was no answer'), { code: 'ETIMEDOUT' });
}

function checkPooler({ pooler, listenUrl }: ServerOptions, kind: ServerKind): void {
  if (pooler !== undefined && kind !== postgresServer) throw new InvalidInputError('is for PostgreSQL only', 'pooler');
  if (listenUrl === undefined) return;
  if (pooler === undefined)
    throw new InvalidInputError('is for a pooler: set pooler as well, or leave it out', 'listenUrl');
  if (findServerKind(listenUrl, 'listenUrl') !== postgresServer)
    throw new InvalidInputError('must be postgres://…', 'listenUrl');
}

function findServerKind(url: string, name = 'url'): ServerKind {
  if (isDecodable(url)) {
    if (/^postgres(ql)?:/i.test(url)) return postgresServer;
    if (/^(mysql|mariadb):/i.test(url)) return mysqlServer;
  }
  throw new InvalidInputError('must be mysql://…, mariadb://… or postgres://…, with % as %25', name);
}
