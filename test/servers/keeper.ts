import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The user that a program runs as; by default the current user. */
export interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly stopSignal: NodeJS.Signals;
}

type KeeperMessage =
  { readonly kind: 'ready'; readonly folder: string } | { readonly kind: 'ended'; readonly how: string };

/**
 * A temporary folder, and one program at a time that runs in it. Both are removed when this process ends, even after a
 * crash.
 */
export class Keeper {
  readonly #ended: Promise<unknown>;

  private constructor(
    private readonly child: ChildProcess,
    readonly folder: string,
  ) {
    this.#ended = once(child, 'exit');
    this.#unref();
  }

  static async start(owner: Owner = {}): Promise<Keeper> {
    const child = fork(join(__dirname, 'keeper-process.cjs'), [JSON.stringify(owner)], {
      detached: true,
      execArgv: [],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const message = await nextMessage(child);
    if (message.kind !== 'ready') throw new Error(`No folder for a server: ${message.how}`);
    return new Keeper(child, message.folder);
  }

  /** Resolves when the program has ended, with its exit status, its signal, or the reason why it did not start. */
  async run(program: Program): Promise<string> {
    const answer = nextMessage(this.child);
    this.child.send({ kind: 'run', ...program });
    const message = await answer;
    return message.kind === 'ended' ? message.how : 'unknown';
  }

  /** Like `run`, but keeps this process alive until the program has ended. */
  async runToEnd(program: Program): Promise<string> {
    this.#ref();
    try {
      return await this.run(program);
    } finally {
      this.#unref();
    }
  }

  /** Kills the program without a clean shutdown. */
  kill(): void {
    this.child.send({ kind: 'kill' });
  }

  /** The last lines of the program's output. */
  log(): string {
    try {
      return readFileSync(join(this.folder, 'log'), 'utf8').trimEnd().split('\n').slice(-15).join('\n');
    } catch {
      return '';
    }
  }

  /** Stops the program and removes the folder. */
  async end(): Promise<void> {
    this.#ref();
    if (this.child.connected) this.child.disconnect();
    await this.#ended;
  }

  #ref(): void {
    this.child.ref();
    this.child.channel?.ref();
  }

  #unref(): void {
    this.child.unref();
    this.child.channel?.unref();
  }
}

function nextMessage(child: ChildProcess): Promise<KeeperMessage> {
  return new Promise((resolve) => {
    const onMessage = (message: KeeperMessage): void => {
      child.off('message', onMessage);
      child.off('exit', onExit);
      resolve(message);
    };
    const onExit = (): void => onMessage({ kind: 'ended', how: 'its keeper ended' });
    child.on('message', onMessage);
    child.on('exit', onExit);
  });
}
