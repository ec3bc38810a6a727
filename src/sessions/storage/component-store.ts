import type {
  ComponentHead,
  ComponentPlace,
  ComponentWrite,
  ComponentWriteOutcome,
  StoredComponent,
} from '../domain/component.js';

/** When a session expires, by the store's clock. */
export interface ComponentExpiry {
  /** The store's time. */
  readonly now: number;
  /** Missing if there is no such session; `NEVER` if it does not expire. */
  readonly expiresAt?: number | undefined;
}

/** A page of sessions. */
export interface ComponentSessionsRequest {
  /** Only sessions after this one. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/**
 * Stores and fetches the texts of components; `ComponentSession` has the rules. Each method is atomic, also among processes,
 * and sees no session that is expired.
 */
export interface ComponentStore {
  head(place: ComponentPlace): Promise<ComponentHead | undefined>;
  read(place: ComponentPlace): Promise<StoredComponent | undefined>;
  /** Writes as {@link componentWriteOutcome} decides. */
  write(write: ComponentWrite): Promise<ComponentWriteOutcome>;
  /** When the session expires. Renews nothing. */
  expiry(session: string): Promise<ComponentExpiry>;
  /** Moves the expiry of a session. */
  renew(session: string, ttlMs: number): Promise<void>;
  /** Removes value and list of this name, or the whole session. */
  remove(session: string, name?: string): Promise<void>;
  /** What a session has, in any order. */
  places(session: string): Promise<ComponentPlace[]>;
  /** Sessions by the bytes of their ids. */
  sessions(request: ComponentSessionsRequest): Promise<string[]>;
  /** Removes at most so many expired sessions, and returns how many. */
  purgeExpired(limit: number): Promise<number>;
  /** Ends what the store has of its own. The components of a session store end with that store. */
  close(): Promise<void>;
}
