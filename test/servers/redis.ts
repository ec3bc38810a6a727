import { findBinary } from './binaries.js';
import { startRedis } from './private-redis.js';
import { checkRedis } from './redis-login.js';
import type { ServerKind } from './server-kind.js';

export const redis: ServerKind = {
  name: 'Redis',
  variable: 'TEST_REDIS_URL',
  example: 'redis://127.0.0.1:6379',
  usualAddresses: ['redis://127.0.0.1:6379'],
  check: checkRedis,
  binaries: ['redis-server'],
  debianPackage: 'redis-server',
  starter(folders) {
    const command = findBinary('redis-server', folders);
    return command === undefined ? undefined : () => startRedis(command);
  },
};
