import { createHash } from 'node:crypto';

/** A Lua script. Redis knows it by its SHA-1 once it has run. */
export interface Script {
  readonly name: string;
  readonly text: string;
  readonly sha: string;
}

/** Joins the shared Lua parts and the body of a script. */
export function defineScript(name: string, ...parts: readonly string[]): Script {
  const text = parts.join('\n');
  return { name, text, sha: createHash('sha1').update(text).digest('hex') };
}

/** The keys and arguments of one run of a script. */
export interface ScriptCall<Reply = unknown> {
  readonly keys: readonly string[];
  /** The arguments after the time, which is always the first one. */
  readonly args: readonly (string | number)[];
  /** All keys that the script uses, if it makes more of them than `keys`. */
  readonly usedKeys?: () => readonly string[];
  /** Whether a reply says that nothing was written, so that no replica has to have it. Default: it never does. */
  readonly wroteNothing?: (reply: Reply) => boolean;
}

/** Runs scripts within a time limit. */
export interface ScriptRunner {
  /** Runs a script that changes nothing. */
  read<Reply>(script: Script, call: ScriptCall<Reply>): Promise<Reply>;
  /** Runs a script that may write. */
  write<Reply>(script: Script, call: ScriptCall<Reply>): Promise<Reply>;
}

/** A number in a reply. A client of the app may be configured to return it as text. */
export type NumberReply = number | string;
