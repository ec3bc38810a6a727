import type { SessionKey } from '../domain/ids.js';
import type { ModelUsage } from '../domain/usage.js';

/** What follows from the log of a session, to replace what is stored. Missing parts stay as they are. */
export interface RebuildRequest {
  readonly key: SessionKey;
  readonly incarnation: string;
  /** The current last event: an append in the meantime prevents the rebuild. */
  readonly lastSeq: number;
  /** The new sums of the session's usage, one for each model. */
  readonly usage?: readonly ModelUsage[] | undefined;
  /** The events of checkpoints to remove. */
  readonly removeCheckpoints?: readonly number[] | undefined;
  /** Retained events that are anchors, and are not stored as such. */
  readonly anchors?: readonly number[] | undefined;
}
