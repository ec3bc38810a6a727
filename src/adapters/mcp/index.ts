export { type FollowOptions, SessionEventStore, type SessionEventStoreOptions } from './session-event-store.js';
