import type { IndexEntry, MetadataText } from '../../../domain/metadata/metadata-entries.js';
import type { Upsert } from '../../../domain/stored/commit.js';
import type { SessionRecord } from '../../../domain/stored/session-record.js';
import type { StateText } from '../../../domain/stored/state-text.js';
import type { StateLimits } from '../../../domain/stored/state-size.js';
import type { StateRow } from '../state/read-state.js';
import type { SessionHead } from '../../planned-write.js';
import type { PlanTime, TimeRange } from '../../plan-time.js';
import type { PlannedRows } from './planned-rows.js';

/**
 * Rows to write without a look at what is stored. All is written, or nothing: if a session is locked, has changed, or if the server's
 * time is not the expected one.
 */
export interface PlannedMessage {
  readonly rows: PlannedRows;
  /** The server's time must be between these two. */
  readonly time: TimeRange | undefined;
}

/** A session that one message inserts, because nothing has to be read before. */
export interface DirectCreate {
  /** The database generates its incarnation. */
  readonly record: SessionRecord;
  readonly stamp: number;
  readonly baseState: string;
  readonly metadata: MetadataText;
  /** What the index of metadata gets. */
  readonly entries: readonly IndexEntry[];
  /** State of the session: as one text, or key by key. */
  readonly stateText: StateText | undefined;
  readonly state: readonly Upsert[];
  /** How large the state of user and app may be to be read. If it is larger, nothing is written. */
  readonly limits: StateLimits | undefined;
  /** The server's time must be between these two. */
  readonly time: TimeRange | undefined;
}

/** What the database answers. */
export interface CreatedRows {
  readonly pk: number;
  /** The state of user and app, also of scopes that have expired. */
  readonly shared: readonly StateRow[];
}

/** That all is written, or the sessions of the message as they are. */
export type MessageAnswer = 'written' | readonly SessionHead[];

/** Writes without a read before. */
export interface DirectWrites {
  /**
   * Writes what `plan` returns once a connection is ready. Returns `undefined` if nothing was written, without a reason. Throws
   * if that is not known. In both cases the caller uses a transaction.
   */
  writeDirectly(
    plan: (moment: PlanTime) => PlannedMessage | undefined,
    calledAt: number,
  ): Promise<MessageAnswer | undefined>;
  /**
   * Inserts the session that `plan` returns once a connection is ready. Returns `undefined` if nothing was written, for example
   * because there is one with its ids: then the caller uses a transaction. Throws if that is not known.
   */
  createDirectly(plan: (moment: PlanTime) => DirectCreate, calledAt: number): Promise<CreatedRows | undefined>;
}
