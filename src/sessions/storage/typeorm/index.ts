export type { SupportedType } from './sql/dialect.js';
export { sessionEntities } from './schema/entities.js';
export { SESSION_MIGRATIONS } from './schema/migrations.js';
export { SEARCH_MIGRATIONS } from './search/search-migrations.js';
export { TypeOrmSessionStorage } from './typeorm-session-storage.js';
export type {
  HostDataSourceOptions,
  ServerOptions,
  SqliteOptions,
  TypeOrmSessionStorageOptions,
} from './typeorm-options.js';
