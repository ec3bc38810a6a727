export { RedisSessionStorage } from './redis-session-storage.js';
export type { RedisClient, RedisSessionStorageOptions, WaitReplicas } from './connect/redis-options.js';
