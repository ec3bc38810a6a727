/** The operations of `SessionService`, each a function of the service's environment and a request. */
export * from './append-events.js';
export * from './change-session.js';
export * from './create-session.js';
export * from './delete-session.js';
export * from './erase-user.js';
export * from './explain-view.js';
export * from './fork-session.js';
export * from './get-session.js';
export * from './list-events.js';
export * from './list-sessions.js';
export * from './purge-expired.js';
export * from './rewind-session.js';
export * from './shared-state.js';
export * from './state-history.js';
export * from './turns.js';
export * from './update-session.js';
export * from './usage.js';
export type { WatchSessionRequest } from './watch-session.js';
