import type {
  ComponentPlace,
  ComponentWrite,
  ComponentWriteOutcome,
  StoredComponent,
} from '../domain/stored/component.js';

/** What a session has. */
export interface ComponentContents {
  /** The store's time. */
  readonly now: number;
  /** When the session expires, by the store's clock. Missing if there is no such session; `NEVER` if it does not expire. */
  readonly expiresAt?: number | undefined;
  /** In any order. */
  readonly places: readonly ComponentPlace[];
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
  /** @param part `head`: without the texts. Default: all */
  read(place: ComponentPlace, part?: 'head'): Promise<StoredComponent | undefined>;
  /** Writes as {@link componentWriteOutcome} decides, and moves the expiry of the session. */
  write(write: ComponentWrite): Promise<ComponentWriteOutcome>;
  /** Removes value and list of this name, or the whole session. */
  remove(session: string, name?: string): Promise<void>;
  places(session: string): Promise<ComponentContents>;
  /** Sessions by the bytes of their ids. */
  sessions(request: ComponentSessionsRequest): Promise<string[]>;
  /** Removes at most so many expired sessions, and returns how many. */
  purgeExpired(limit: number): Promise<number>;
  /** Ends what the store has of its own. The components of a session store end with that store, and have none. */
  close?(): Promise<void>;
}
