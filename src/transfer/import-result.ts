import type { SessionLimits } from '../config/session-settings.js';
import type { ComponentStore } from '../sessions/storage/component-store.js';
import type { TransferFilter } from './transfer-records.js';

/** How to import. */
export interface ImportOptions {
  /** What to import. Default: all. */
  readonly filter?: TransferFilter | undefined;
  /** Writes nothing, and reports what would be done. Default `false`. */
  readonly dryRun?: boolean | undefined;
  /**
   * What happens if the target has another session of the same id, or an older copy, or a component that differs. `fail` (default)
   * ends the import, `skip` leaves it out, `replace` deletes that of the target. A session with other events is never replaced.
   */
  readonly onConflict?: 'fail' | 'skip' | 'replace' | undefined;
  /**
   * What happens with what cannot be read: a damaged line, or a session of another system that is not valid here. `fail` (default)
   * ends the import with a `TransferFileError`, `skip` leaves out the session and reports it.
   */
  readonly onBad?: 'fail' | 'skip' | undefined;
  /** Where component state goes. Default: the target, if it keeps any. `false` leaves it out. */
  readonly components?: ComponentStore | false | undefined;
  /** `false` leaves out the state and the usage of users and apps. Some stores keep none. Default `true`. */
  readonly shared?: boolean | undefined;
  /** The `cursor` of an earlier import of the same file: what it finished is skipped without a look at the target. */
  readonly cursor?: number | undefined;
  /** The limits of the service that will read the sessions, to name state that is larger. Default: those of the target, or the usual ones. */
  readonly limits?: Partial<SessionLimits> | undefined;
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
  /** The export left them out, because they could not be read. */
  readonly missing: number;
}

/** What happened to values and lists of components. */
export interface ImportedComponents {
  /** They are new, or the target had the beginning of a list. */
  readonly written: number;
  readonly unchanged: number;
  readonly expired: number;
  /** The target has others of the same names. */
  readonly conflicting: number;
  /** The filter excluded them, or `components` is `false`. */
  readonly filtered: number;
}

/** What an import has done so far. */
export interface ImportCounts {
  readonly sessions: ImportedSessions;
  readonly components: ImportedComponents;
  /** Events that were added. */
  readonly events: number;
  /** Users and apps that got state. */
  readonly states: number;
  /** Users and apps that got sums of usage. */
  readonly usages: number;
  /** State and usage of users and apps that `shared: false` left out. */
  readonly omitted: number;
  /** Sessions, users and apps that got more state than `limits` allow. Nothing is left out, but reads refuse it until keys are removed. */
  readonly oversized: number;
  /** What could not be read and was skipped. */
  readonly bad: number;
}

/** The progress of an import. */
export interface ImportProgress extends ImportCounts {
  /** The line of the file. */
  readonly line: number;
  readonly cursor: number;
}

/** What was left out, and why. */
export interface TransferProblem {
  readonly appName?: string | undefined;
  readonly userId?: string | undefined;
  /** Missing if a line could not be read. For component state of a name that an app chose, that name. */
  readonly sessionId?: string | undefined;
  /** The name of the component. */
  readonly component?: string | undefined;
  /** The line of the file. */
  readonly line?: number | undefined;
  readonly problem: string;
}

/** What an import did. */
export interface ImportResult extends ImportCounts {
  /** The last line that is completely imported. */
  readonly cursor: number;
  /** Sessions and components that the target has differently: the first 100. */
  readonly conflicts: readonly TransferProblem[];
  /** What `shared: false` left out: the first 100. */
  readonly omissions: readonly TransferProblem[];
  /** Whose state is larger than `limits` allow: the first 100. */
  readonly excesses: readonly TransferProblem[];
  /** What could not be read: the first 100. */
  readonly problems: readonly TransferProblem[];
}
