import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The user that a program runs as; whoever runs the tests, where nothing is given. */
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

/** A temporary folder, and one program at a time that runs in it. Both end with this process, however it ends. */
export class Keeper {
  readonly #ended: Promise<unknown>;

  private constructor(
    private readonly child: ChildProcess,
    readonly folder: string,
  ) {
    this.#ended = once(child, 'exit');
    this.#letGo();
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

  /** Resolves once the program has ended, with its exit status, its signal, or why it did not start. */
  async run(program: Program): Promise<string> {
    const answer = nextMessage(this.child);
    this.child.send({ kind: 'run', ...program });
    const message = await answer;
    return message.kind === 'ended' ? message.how : 'unknown';
  }

  /** As `run`, but keeps this process alive until the program has ended. */
  async runToEnd(program: Program): Promise<string> {
    this.#hold();
    try {
      return await this.run(program);
    } finally {
      this.#letGo();
    }
  }

  /** Ends the program as a power cut would. */
  kill(): void {
    this.child.send({ kind: 'kill' });
  }

  /** The last lines that its programs wrote. */
  log(): string {
    try {
      return readFileSync(join(this.folder, 'log'), 'utf8').trimEnd().split('\n').slice(-15).join('\n');
    } catch {
      return '';
    }
  }

  /** Stops the program and removes the folder. */
  async end(): Promise<void> {
    this.#hold();
    if (this.child.connected) this.child.disconnect();
    await this.#ended;
  }

  #hold(): void {
    this.child.ref();
    this.child.channel?.ref();
  }

  #letGo(): void {
    this.child.unref();
    this.child.channel?.unref();
  }
}

function nextMessage(child: ChildProcess): Promise<KeeperMessage> {
  return new Promise((resolve) => {
    const heard = (message: KeeperMessage): void => {
      child.off('message', heard);
      child.off('exit', gone);
      resolve(message);
    };
    const gone = (): void => heard({ kind: 'ended', how: 'its keeper ended' });
    child.on('message', heard);
    child.on('exit', gone);
  });
}
