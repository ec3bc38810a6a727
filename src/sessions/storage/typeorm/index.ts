export { SESSION_ENTITIES } from './tables.js';
export { CreateSessionTables1763700000000 } from './migrations/1763700000000-create-session-tables.js';
export { TypeOrmSessionStorage, type TypeOrmSessionStorageOptions } from './typeorm-session-storage.js';
export type { SqliteOptions } from './sqlite-database.js';
