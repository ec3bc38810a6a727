import type { SessionStorage } from '../sessions/storage/session-storage.js';

/** The raw data of a store, read without the store. */
export interface RawData {
  readonly sessions: number;
  readonly events: number;
  /** Keys of state, of all scopes. */
  readonly stateEntries: number;
  /** All stored text, to search in. */
  readonly text: string;
}

/** A store under test, empty when it is opened. */
export interface OpenStorage {
  readonly storage: SessionStorage;
  /** Reads the stored data without going through the storage. */
  raw(): Promise<RawData>;
  /** Closes the storage and removes its data. */
  destroy(): Promise<void>;
}
