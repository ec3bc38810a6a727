import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import { RedisModule, getRedisConnectionToken } from '@nestjs-modules/ioredis';
import { TypeOrmModule, getDataSourceToken } from '@nestjs/typeorm';
import type { Cluster, Redis } from 'ioredis';
import Libsql from 'libsql';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { SESSION_MIGRATIONS, sessionEntities } from '../../../src/typeorm.js';
import type { DatabaseSettings, StoreSettings } from '../../../src/config/store-settings.js';
import type { Place } from './places.js';

/** The app's own connection to a store, opened by the Nest module for that database. */
export interface Host {
  readonly module: DynamicModule;
  readonly token: ReturnType<typeof getDataSourceToken>;
  /** The store settings for the connection. */
  settingsOf(connection: object): StoreSettings;
  /** Uses the connection for another query. */
  use(app: INestApplicationContext): Promise<unknown>;
}

/** The app's connection to a store, optionally with a name. */
export function hostOf({ settings }: Place, connection?: string): Host {
  if (settings.provider === 'redis') return redisHost(settings, connection);
  if (settings.provider === 'typeorm') return typeOrmHost(settings, connection);
  throw new Error('Memory has no connections');
}

function redisHost({ redis = {} }: StoreSettings & { provider: 'redis' }, connection?: string): Host {
  const { cluster, url, prefix } = redis;
  const token = getRedisConnectionToken(connection);
  return {
    token,
    module: RedisModule.forRootAsync(
      {
        imports: [],
        useFactory: () => (cluster ? { type: 'cluster', nodes: [...cluster] } : { type: 'single', url: url ?? '' }),
      },
      connection,
    ),
    settingsOf: (client) => ({ provider: 'redis', redis: { client, prefix } }),
    use: (app) => app.get<Redis | Cluster>(token, { strict: false }).get('agent-sessions-test-nothing'),
  };
}

function typeOrmHost({ database = {} }: StoreSettings & { provider: 'typeorm' }, connection?: string): Host {
  const token = getDataSourceToken(connection);
  return {
    token,
    module: TypeOrmModule.forRootAsync({
      ...(connection !== undefined && { name: connection }),
      useFactory: () => ({ ...hostOptions(database), retryAttempts: 0 }),
    }),
    settingsOf: (dataSource) => ({ provider: 'typeorm', database: { dataSource } }),
    use: (app) => app.get<DataSource>(token, { strict: false }).query('SELECT 1 AS one'),
  };
}

function hostOptions({ database, url = '', driverOptions }: DatabaseSettings): DataSourceOptions {
  // The same migrations as a store with its own connections, so that both can use these tables.
  const ofHost = {
    migrations: SESSION_MIGRATIONS,
    migrationsRun: true,
    migrationsTableName: 'agent_session_migrations',
  };
  if (typeof database === 'string') {
    const entities = sessionEntities('better-sqlite3');
    return { ...ofHost, type: 'better-sqlite3', driver: Libsql, database, entities };
  }
  if (url.startsWith('postgres')) return { ...ofHost, type: 'postgres', url, entities: sessionEntities('postgres') };
  const entities = sessionEntities('mysql');
  return {
    ...ofHost,
    type: 'mysql',
    url,
    charset: 'utf8mb4',
    extra: { ...driverOptions },
    entities,
  };
}
