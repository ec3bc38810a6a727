export { SessionsHealth, type SessionsHealthOptions } from './sessions-health.js';
