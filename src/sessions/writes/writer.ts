import type { AppendOutcome, Commit } from '../domain/stored/commit.js';
import type { SessionHead } from '../storage/planned-write.js';
import type { SessionChange } from './session-change.js';

/** Decides what becomes of operations on sessions, and has a store write it. */
export interface Writer {
  append(commit: Commit): AppendOutcome | Promise<AppendOutcome>;
  change<Outcome>(change: SessionChange<Outcome>): Outcome | Promise<Outcome>;
  /** A session as it was created. */
  remember(head: SessionHead): void;
  /** A session as it was read. */
  refresh(head: SessionHead): void;
  /** Waits until all that runs has ended. */
  finished(): Promise<void>;
}
