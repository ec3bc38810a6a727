export { RedisSessionStorage } from './redis-session-storage.js';
export type { RedisClient, RedisSessionStorageOptions, WaitReplicas } from './redis-options.js';
