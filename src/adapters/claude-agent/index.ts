export { ClaudeSessionStore, type ClaudeSessionStoreOptions } from './claude-session-store.js';
export type { TranscriptApp } from './transcript-address.js';
export type { FoldSummary } from './transcript-writer.js';
