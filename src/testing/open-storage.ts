import type { SessionStorage } from '../sessions/storage/session-storage.js';

/** What a store really holds, looked at behind its back. */
export interface RawData {
  readonly sessions: number;
  readonly events: number;
  /** Keys of state, of all scopes. */
  readonly stateEntries: number;
  /** All text that is stored, for searching. */
  readonly text: string;
}

/** A store under test, empty when it is opened. */
export interface OpenStorage {
  readonly storage: SessionStorage;
  /** Reads the stored data without going through the storage. */
  raw(): Promise<RawData>;
  /** Closes the storage and removes everything it left behind. */
  destroy(): Promise<void>;
}
