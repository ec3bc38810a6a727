export * from './sessions/storage/redis/index.js';
export { RedisSessionService } from './sessions/redis-session.service.js';
