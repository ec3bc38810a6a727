export { StaleThreadError } from './saver-errors.js';
export { SessionChatHistory, type SessionChatHistoryOptions } from './session-chat-history.js';
export { SessionSaver, type SessionSaverOptions } from './session-saver.js';
export type { ThreadUser } from './thread-address.js';
export type { InTurnOptions } from './thread-turn.js';
