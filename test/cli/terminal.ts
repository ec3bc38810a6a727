import { PassThrough, Readable, Writable } from 'node:stream';
import { runCli } from '../../src/cli/run-cli.js';

/** What a command wrote, and its exit code. */
export interface CliResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface CliOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly stdin?: string;
  readonly signal?: AbortSignal;
  readonly isTerminal?: boolean;
  /** Sees what is written to stdout so far. */
  readonly onOutput?: (text: string) => void;
}

/** Runs a command in this process. */
export async function cli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const texts = { out: '', err: '' };
  const collect = (name: 'out' | 'err'): Writable & { isTTY?: boolean } =>
    Object.assign(
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          texts[name] += chunk.toString();
          if (name === 'out') options.onOutput?.(texts.out);
          done();
        },
      }),
      { isTTY: options.isTerminal ?? false },
    );
  const code = await runCli(args, {
    stdout: collect('out'),
    stderr: collect('err'),
    stdin: Readable.from([options.stdin ?? '']),
    env: options.env ?? {},
    signal: options.signal ?? new AbortController().signal,
  });
  return { code, ...texts };
}

/** A stream whose reader goes away after so many bytes, as `head` does. */
export function brokenPipe(after: number): PassThrough {
  const stream = new PassThrough({ highWaterMark: 64 });
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes >= after) stream.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
  });
  return stream;
}

/** A file that cannot grow any more. */
export function fullDisk(): Writable {
  const error = Object.assign(new Error('ENOSPC: no space left on device, write'), {
    code: 'ENOSPC',
    syscall: 'write',
  });
  return new Writable({ write: (_chunk, _encoding, done) => done(error) });
}
