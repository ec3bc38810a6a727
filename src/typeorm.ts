export * from './sessions/storage/typeorm/index.js';
export { DatabaseSessionService } from './sessions/database-session.service.js';
