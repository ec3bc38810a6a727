import type { Readable, Writable } from 'node:stream';

/** A stream of the process; a terminal says so. */
export type OutputStream = Writable & { readonly isTTY?: boolean | undefined };

/** What the commands use of a process. Tests give their own. */
export interface CliIo {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly stdin: Readable;
  readonly env: NodeJS.ProcessEnv;
  /** Aborted when the process is to end. */
  readonly signal: AbortSignal;
}
