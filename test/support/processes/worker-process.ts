import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Assignment, WorkerMessage } from './worker.js';
import type { WorkerTasks } from './worker-tasks.js';

type Input<Name extends keyof WorkerTasks> = Parameters<WorkerTasks[Name]>[0];
type Result<Name extends keyof WorkerTasks> = Awaited<ReturnType<WorkerTasks[Name]>>;

const ENDED = 'The worker process ended';

/** Processes that have closed their stores. To start one takes a quarter of a second of a core. */
let idle: WorkerProcess[] | undefined = [];
afterAll(() => {
  const last = idle ?? [];
  // Hooks that were defined later still stop processes.
  idle = undefined;
  return Promise.all(last.map((worker) => worker.end()));
});

/** A child process that runs one task after the other. */
export class WorkerProcess {
  readonly #exited: Promise<unknown>;

  private constructor(private readonly child: ChildProcess) {
    // The channel closes after all messages of the process were received.
    this.#exited = Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  }

  /** Takes an idle process, or starts one and waits until it has loaded its modules. */
  static async start(): Promise<WorkerProcess> {
    const free = idle?.pop();
    if (free) return free;
    const child = fork(join(__dirname, 'bootstrap.cjs'), [join(__dirname, 'worker.ts')], { execArgv: [] });
    const worker = new WorkerProcess(child);
    await worker.#answer(() => undefined);
    return worker;
  }

  /** @param at when to start, in epoch milliseconds. Default: immediately */
  async run<Name extends keyof WorkerTasks>(
    task: Name,
    input: Input<Name>,
    { at, onProgress = () => undefined }: { at?: number; onProgress?: (progress: number) => void } = {},
  ): Promise<Result<Name>> {
    if (!this.child.connected) throw new Error(ENDED);
    const answer = this.#answer(onProgress);
    // A process that ends meanwhile does not take it, and its channel closes.
    this.child.send({ task, input, at } satisfies Assignment, () => undefined);
    return (await answer) as Result<Name>;
  }

  /** Continues a process that has stopped itself. */
  resume(): void {
    this.child.kill('SIGCONT');
  }

  /** Asks the process to end, as a deploy does, and waits for it. */
  async terminate(): Promise<void> {
    this.child.kill('SIGTERM');
    await this.#exited;
  }

  /** Kills the process without a clean shutdown. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.#exited;
  }

  /** Closes what the process has opened, and leaves it to other tests. */
  async stop(): Promise<void> {
    if (!idle || !this.child.connected) return this.end();
    await this.run('close', undefined);
    idle.push(this);
  }

  async end(): Promise<void> {
    if (this.child.connected) this.child.disconnect();
    await this.#exited;
  }

  #answer(onProgress: (progress: number) => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const stopListening = (): void => {
        this.child.off('message', onMessage);
        this.child.off('disconnect', onEnd);
      };
      const onEnd = (): void => {
        stopListening();
        reject(new Error(ENDED));
      };
      const onMessage = (message: WorkerMessage): void => {
        if (message.kind === 'progress') {
          onProgress(message.progress);
          return;
        }
        stopListening();
        if (message.kind === 'failed') reject(new Error(`In the worker process: ${message.message}`));
        else resolve(message.kind === 'done' ? message.result : undefined);
      };
      this.child.on('message', onMessage);
      this.child.on('disconnect', onEnd);
    });
  }
}

/** Several processes that start each task at the same time. */
export class WorkerProcesses {
  private constructor(readonly all: readonly WorkerProcess[]) {}

  static async start(count: number): Promise<WorkerProcesses> {
    return new WorkerProcesses(await Promise.all(Array.from({ length: count }, () => WorkerProcess.start())));
  }

  /** The result of each worker. */
  async run<Name extends keyof WorkerTasks>(
    task: Name,
    inputOf: (index: number) => Input<Name>,
  ): Promise<Result<Name>[]> {
    const at = Date.now() + START_TOGETHER_MS;
    return Promise.all(this.all.map((worker, index) => worker.run(task, inputOf(index), { at })));
  }

  async stop(): Promise<void> {
    await Promise.all(this.all.map((worker) => worker.stop()));
  }
}

/** Enough for a message to reach all processes. */
const START_TOGETHER_MS = 15;
