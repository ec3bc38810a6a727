import type { AppendOutcome, Commit } from '../domain/commit.js';
import type { TurnOutcome, TurnRequest } from '../domain/turn.js';
import type { SessionHead } from '../storage/planned-write.js';

/** Decides what becomes of operations on sessions, and has a store write it. */
export interface Writer {
  append(commit: Commit): AppendOutcome | Promise<AppendOutcome>;
  turn(request: TurnRequest): TurnOutcome | Promise<TurnOutcome>;
  /** A session as it was created. */
  remember(head: SessionHead): void;
  /** A session as it was read. */
  refresh(head: SessionHead): void;
  /** Waits until all that runs has ended. */
  finished(): Promise<void>;
}
