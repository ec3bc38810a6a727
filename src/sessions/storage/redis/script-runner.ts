import type { Script } from './scripts/script.js';

/** What a script is run with. */
export interface ScriptCall {
  readonly keys: readonly string[];
  /** The arguments after the time, which is always the first one. */
  readonly args: readonly (string | number)[];
}

/** Runs scripts within a limit of time. */
export interface ScriptRunner {
  /** Runs a script that changes nothing. */
  read<Reply>(script: Script, call: ScriptCall): Promise<Reply>;
  /** Runs a script that may write. */
  write<Reply>(script: Script, call: ScriptCall): Promise<Reply>;
}

/** A number as a script answers it: a client of the app may give it as text. */
export type NumberReply = number | string;
