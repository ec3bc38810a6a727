import { setMaxListeners } from 'node:events';
import { Semaphore } from '../sessions/storage/semaphore.js';

export interface SessionTasksOptions {
  readonly concurrency: number;
  /** Sessions beyond this number are not started here: they stay on the agenda. */
  readonly maxTasks: number;
}

interface SessionTask {
  /** One controller per task: a signal that lives as long as the app would keep a reference to every task. */
  readonly stopping: AbortController;
  isRunning: boolean;
  isWokenAgain: boolean;
  ended: Promise<void>;
}

/**
 * Background tasks of this process, at most one per session at a time. A wake-up starts due work immediately. This is not a queue:
 * the agenda keeps every session until its work is done.
 */
export class SessionTasks {
  readonly #options: SessionTasksOptions;
  readonly #semaphore: Semaphore;
  readonly #tasks = new Map<string, SessionTask>();
  readonly #closing = new AbortController();

  constructor(options: SessionTasksOptions) {
    this.#options = options;
    this.#semaphore = new Semaphore(options.concurrency);
    // Each waiting task listens.
    setMaxListeners(Infinity, this.#closing.signal);
  }

  get counts(): { waiting: number; running: number } {
    const tasks = [...this.#tasks.values()];
    return {
      waiting: tasks.filter(({ isRunning, isWokenAgain }) => !isRunning || isWokenAgain).length,
      running: tasks.filter(({ isRunning }) => isRunning).length,
    };
  }

  /**
   * Starts `work` for a session as soon as a permit is free. If the session is running already, `work` starts again
   * afterwards. Returns whether it will run. `work` must not throw.
   */
  wake(name: string, work: (signal: AbortSignal) => Promise<void>): boolean {
    if (this.#closing.signal.aborted) return false;
    const current = this.#tasks.get(name);
    if (current) {
      current.isWokenAgain ||= current.isRunning;
      return true;
    }
    if (this.#tasks.size >= this.#options.maxTasks) return false;
    const stopping = new AbortController();
    const task: SessionTask = { stopping, isRunning: false, isWokenAgain: false, ended: Promise.resolve() };
    this.#tasks.set(name, task);
    task.ended = this.#run(name, task, work);
    return true;
  }

  async whenIdle(): Promise<void> {
    while (this.#tasks.size > 0) await Promise.all(Array.from(this.#tasks.values(), ({ ended }) => ended));
  }

  /** Starts no more tasks, waits up to `limitMs` for running tasks, then aborts them. */
  async close(limitMs: number): Promise<void> {
    const reason = new Error('the app is closing');
    this.#closing.abort(reason);
    const timer = setTimeout(() => {
      for (const { stopping } of this.#tasks.values()) stopping.abort(reason);
    }, limitMs);
    await this.whenIdle();
    clearTimeout(timer);
  }

  async #run(name: string, task: SessionTask, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#closing;
    try {
      await this.#semaphore.run(async () => {
        task.isRunning = true;
        await work(task.stopping.signal);
      }, signal);
    } catch (error) {
      // Closed while the task waited for a permit.
      if (!signal.aborted) throw error;
    } finally {
      this.#tasks.delete(name);
    }
    if (task.isWokenAgain) this.wake(name, work);
  }
}
