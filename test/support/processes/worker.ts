import { setTimeout as delay } from 'node:timers/promises';
import { WorkerTasks } from './worker-tasks.js';

/** A message to a worker. */
export interface Assignment {
  readonly task: keyof WorkerTasks;
  readonly input: unknown;
  /** When to start, in epoch milliseconds, so that several workers start together. */
  readonly at?: number | undefined;
}

/** A message from a worker. */
export type WorkerMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'progress'; readonly progress: number }
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly message: string };

const tasks = new WorkerTasks((progress) => send({ kind: 'progress', progress }));

process.on('message', (assignment: Assignment) => void carryOut(assignment));
// The parent process has ended.
process.on('disconnect', () => process.exit());
void send({ kind: 'ready' });

async function carryOut({ task, input, at = 0 }: Assignment): Promise<void> {
  try {
    await delay(Math.max(0, at - Date.now() - 2));
    while (Date.now() < at);
    const work = tasks[task].bind(tasks) as (given: unknown) => Promise<unknown>;
    await send({ kind: 'done', result: await work(input) });
  } catch (error) {
    await send({ kind: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

/** Done when the message has been handed to the system, which delivers it even if this process dies. */
function send(message: WorkerMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(message, (error: Error | null) => (error ? reject(error) : resolve()));
  });
}
