import type { Task } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import type { TaskJson } from './task-json.js';
import type { KnownTask } from './task-merge.js';

/** What callers know of tasks: what they loaded or saved last, with the same object or in the same call. */
export class KnownTasks {
  readonly #byObject = new WeakMap<Task, { readonly name: string; readonly task: TaskJson }>();
  readonly #byCall = new WeakMap<ServerCallContext, Map<string, KnownTask>>();

  /** @param name of the session */
  of(task: Task, context: ServerCallContext, name: string): KnownTask {
    const known = this.#byObject.get(task);
    return known?.name === name ? known : this.#byCall.get(context)?.get(name);
  }

  /** @param object `undefined` if there is no such task, which is knowledge, too */
  set(object: Task | undefined, context: ServerCallContext, name: string, task: TaskJson | undefined): void {
    if (object && task) this.#byObject.set(object, { name, task });
    const known = this.#byCall.get(context) ?? new Map<string, KnownTask>();
    known.set(name, { task });
    this.#byCall.set(context, known);
  }
}
