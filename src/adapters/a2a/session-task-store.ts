import type { ListTasksRequest, ListTasksResponse, Task } from '@a2a-js/sdk';
import type { ServerCallContext, TaskStore } from '@a2a-js/sdk/server';
import { checkOptions, sessionNameOf } from '../../adapter.js';
import { ConfigurationError, type SessionService } from '../../index.js';
import type { SessionAccess } from '../../sessions/rest/index.js';
import { shownToClients } from './shown-to-clients.js';
import { TaskAccess, keepAccess } from './task-access.js';
import { type TaskJson, toTaskJson, taskOf } from './task-json.js';
import { TaskList } from './task-list.js';
import { TaskLogs } from './task-logs.js';
import type { KnownTask } from './task-merge.js';
import { SCOPE, TaskScope, type TaskScopeOptions } from './task-scope.js';
import { TaskWriter } from './task-writer.js';

/** What a {@link SessionTaskStore} needs. */
export interface SessionTaskStoreOptions extends TaskScopeOptions {
  readonly sessions: SessionService;
  /** Author of the events that users did not write. Default: `agent`. */
  readonly agent?: string | undefined;
  /**
   * The access rule, which `SessionRequestHandler` asks before each call of a client. Default: that of the `SessionAccessModule` of the
   * app whose service this is; without one, all that users may do with their own tasks.
   */
  readonly access?: SessionAccess | undefined;
}

/**
 * Keeps the tasks of an A2A server in sessions: the id of a task is that of its session. A save appends what the caller
 * changed since it loaded the task, so that writers in any process lose nothing of each other.
 *
 * @example
 * const tasks = new SessionTaskStore({ sessions, appName: 'shop' });
 * const handler = new SessionRequestHandler(agentCard, tasks, executor);
 */
export class SessionTaskStore implements TaskStore {
  readonly #scope: TaskScope;
  readonly #logs: TaskLogs;
  readonly #writer: TaskWriter;
  readonly #list: TaskList;
  readonly #access: TaskAccess;
  readonly #known = new KnownTasks();

  constructor(options: SessionTaskStoreOptions) {
    checkOptions('SessionTaskStore', options, {
      ...SCOPE,
      sessions: 'object',
      agent: 'author?',
      access: 'object?',
    });
    const { sessions, agent = 'agent', access, ...scope } = options;
    if (!sessions.keepsHistory) {
      throw new ConfigurationError([
        'history.keepHistory must be true for sessions of A2A: tasks are made of all events.',
      ]);
    }
    this.#scope = new TaskScope(scope);
    this.#logs = new TaskLogs(sessions);
    this.#writer = new TaskWriter(sessions, this.#logs, agent);
    this.#list = new TaskList(sessions, this.#logs);
    this.#access = new TaskAccess(sessions, this.#scope, access);
    keepAccess(this, this.#access);
  }

  /**
   * Appends what the caller changed since it loaded the task with the same object or in the same call. What others saved
   * meanwhile stays. A status that others ended a task with is kept.
   *
   * @throws SessionNotFoundError if the task was deleted since the caller loaded it
   */
  async save(task: Task, context: ServerCallContext): Promise<void> {
    this.#access.assertAsked();
    const key = this.#scope.keyOf(task.id, context);
    const next = toTaskJson(task);
    await shownToClients(() => this.#writer.write(key, next, this.#known.of(task, context, sessionNameOf(key))));
    this.#known.set(task, context, sessionNameOf(key), next);
  }

  async load(taskId: string, context: ServerCallContext): Promise<Task | undefined> {
    this.#access.assertAsked();
    const key = this.#scope.findKey(taskId, context);
    const found = key && (await shownToClients(() => this.#logs.read(key)))?.task;
    const task = found && taskOf(taskId, found);
    if (key) this.#known.set(task, context, sessionNameOf(key), found);
    return task;
  }

  /** The newest status first. `totalSize` counts all tasks that the filters let through. */
  async list(request: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    this.#access.assertAsked();
    const owner = this.#scope.findOwner(context);
    if (!owner) return this.#list.empty(request);
    return shownToClients(() => this.#list.read(owner, request, this.#access.filterOf(context)));
  }
}

/** What callers know of tasks: what they loaded or saved last, with the same object or in the same call. */
class KnownTasks {
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
