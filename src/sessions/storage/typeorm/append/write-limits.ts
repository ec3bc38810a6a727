import type { WriteLimits } from '../../planned-write.js';
import type { TypeOrmSessionStorageOptions } from '../typeorm-options.js';

const DEFAULT_POOL_SIZE = 10;

/** Four of ten connections for batches, because more would only wait for the same disk, and three for waits for locks. */
export function writeLimitsOf(options: TypeOrmSessionStorageOptions): WriteLimits {
  const connections = connectionsOf(options);
  return {
    maxBatches: Math.max(1, Math.floor(connections * 0.4)),
    maxWaiting: Math.max(1, Math.floor(connections * 0.3)),
    isOn: options.coalesceAppends ?? true,
  };
}

function connectionsOf(options: TypeOrmSessionStorageOptions): number {
  const all = 'dataSource' in options ? options.dataSource.options : options;
  // A file has one writer at a time.
  if ('database' in options || ('type' in all && all.type === 'better-sqlite3')) return 1;
  return ('poolSize' in all ? all.poolSize : undefined) ?? DEFAULT_POOL_SIZE;
}
