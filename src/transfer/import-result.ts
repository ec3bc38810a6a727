import type { SessionKey } from '../sessions/domain/ids.js';
import type { TransferFilter } from './transfer-records.js';

/** How to import. */
export interface ImportOptions {
  /** What to import. Default: all. */
  readonly filter?: TransferFilter | undefined;
  /** Writes nothing, and reports what would be done. Default `false`. */
  readonly dryRun?: boolean | undefined;
  /**
   * What happens if the target has another session of the same id, or an older copy. `fail` (default) ends the import, `skip` leaves the session out, `replace`
   * deletes the one of the target. A session with other events is never replaced.
   */
  readonly onConflict?: 'fail' | 'skip' | 'replace' | undefined;
  /** The `cursor` of an earlier import of the same file: what it finished is skipped without a look at the target. */
  readonly cursor?: number | undefined;
  /** How long sums of usage are kept after their last change. Default: as in the settings of the service. */
  readonly usageKeepDays?: number | undefined;
  /** Called now and then, and at the end. */
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
  /** Ends the import with an error. Importing again goes on where it ended. */
  readonly signal?: AbortSignal | undefined;
}

/** What happened to sessions. */
export interface ImportedSessions {
  readonly created: number;
  /** The target had their beginning, and got the rest. */
  readonly continued: number;
  /** The target had all of them, and perhaps more. */
  readonly unchanged: number;
  /** They have expired in the meantime. */
  readonly expired: number;
  /** The target has other sessions of the same ids. */
  readonly conflicting: number;
  /** The filter excluded them. */
  readonly filtered: number;
}

/** What an import has done so far. */
export interface ImportCounts {
  readonly sessions: ImportedSessions;
  /** Events that were added. */
  readonly events: number;
  /** Users and apps that got state. */
  readonly states: number;
  /** Users and apps that got sums of usage. */
  readonly usages: number;
}

/** The progress of an import. */
export interface ImportProgress extends ImportCounts {
  /** The line of the file. */
  readonly line: number;
  readonly cursor: number;
}

/** A session that was left out because the target has another one of the same id. */
export interface TransferConflict extends SessionKey {
  readonly problem: string;
}

/** What an import did. */
export interface ImportResult extends ImportCounts {
  /** The last line that is completely imported. */
  readonly cursor: number;
  /** The first 100. */
  readonly conflicts: readonly TransferConflict[];
}
