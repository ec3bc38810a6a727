export type { SupportedType } from './sql/dialect.js';
export { sessionEntities } from './entities.js';
export { SESSION_MIGRATIONS } from './migrations/index.js';
export { TypeOrmSessionStorage } from './typeorm-session-storage.js';
export type {
  HostDataSourceOptions,
  ServerOptions,
  SqliteOptions,
  TypeOrmSessionStorageOptions,
} from './typeorm-options.js';
