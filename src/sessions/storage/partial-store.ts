import type { StoredPartial } from '../domain/partial-event.js';
import type { SessionKey } from '../domain/ids.js';

/** Which partial events to read. */
export interface PartialsRequest {
  readonly key: SessionKey;
  readonly incarnation: string;
  /** Only those with a higher number. */
  readonly after: number;
}

/** Partial events of a session, as one consistent snapshot. */
export interface StoredPartials {
  /** The last event of the log. */
  readonly lastSeq: number;
  /** By number. */
  readonly partials: readonly StoredPartial[];
}

/**
 * The pieces of answers that are not complete. They are not in the log; a commit that completes the answer removes them
 * (`endsPartials`), and so do rewinds, the end of the session, and time.
 */
export interface PartialStore {
  /** Undefined if the session is missing, expired or another incarnation. */
  read(request: PartialsRequest): Promise<StoredPartials | undefined>;
}
