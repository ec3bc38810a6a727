import { createHash } from 'node:crypto';

/** A Lua script and what the server knows it by. */
export interface Script {
  readonly name: string;
  readonly text: string;
  readonly sha: string;
}

export function script(name: string, ...parts: readonly string[]): Script {
  const text = parts.join('\n');
  return { name, text, sha: createHash('sha1').update(text).digest('hex') };
}
