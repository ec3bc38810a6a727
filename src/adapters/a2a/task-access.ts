import { RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import type { ServerCallContext, User } from '@a2a-js/sdk/server';
import { Logger } from '@nestjs/common';
import { AccessChecks, checksFor, describeWrite, reportProblem, type StreamAccess } from '../../adapter.js';
import { ConfigurationError, type SessionFilter, SessionNotFoundError, type SessionService } from '../../index.js';
import type { AccessUser, SessionAccess } from '../../sessions/rest/index.js';
import type { TaskScope } from './task-scope.js';

/** What a call writes, for the access rule. */
export type TaskWrite = Parameters<typeof describeWrite>[0];

/** Where the SDK keeps the headers of a request. */
const HEADERS = 'headers';
const NOBODY_ASKS =
  '`access` of SessionTaskStore is asked by SessionRequestHandler: use it instead of the DefaultRequestHandler of the SDK.';
const NO_TASKS = 'SessionRequestHandler needs a SessionTaskStore: its sessions are what the access rule decides about.';

/** Kept here, not in the stores: what asks is no part of what they offer. */
const accesses = new WeakMap<object, TaskAccess>();

export function keepAccess(tasks: object, access: TaskAccess): void {
  accesses.set(tasks, access);
}

/** Of a store, for the handler that asks from now on. */
export function accessBehind(tasks: object): TaskAccess {
  const access = accesses.get(tasks);
  if (!access) throw new ConfigurationError([NO_TASKS]);
  return access.begin();
}

/** Asks the access rule what the client of a call may do, as other transports do. Nothing is asked where there is no rule. */
export class TaskAccess {
  readonly #logger = new Logger(TaskAccess.name);
  readonly #own: AccessChecks | undefined;
  readonly #filters = new WeakMap<ServerCallContext, SessionFilter>();
  #isAsked = false;

  /** @param access default: the rule of the app */
  constructor(
    private readonly sessions: SessionService,
    private readonly scope: TaskScope,
    access: SessionAccess | undefined,
  ) {
    this.#own = access && AccessChecks.over(access, sessions);
  }

  begin(): this {
    this.#isAsked = true;
    return this;
  }

  /** A rule that was given, and that nobody asks, would allow everything. */
  assertAsked(): void {
    if (this.#own && !this.#isAsked) throw new ConfigurationError([NOBODY_ASKS]);
  }

  async mayRead(taskId: string, context: ServerCallContext): Promise<void> {
    await this.#askAbout(taskId, context, 'read');
  }

  /** Who writes gets the task, so they have to be allowed to read it. */
  async mayWrite(taskId: string, context: ServerCallContext, writes: TaskWrite = {}): Promise<void> {
    await this.mayRead(taskId, context);
    await this.#askAbout(taskId, context, 'write', writes);
  }

  async mayBegin(context: ServerCallContext, writes: TaskWrite): Promise<void> {
    await this.#ask('', async (checks) => {
      const asked = { ...this.scope.ownerOf(context), request: requestOf(context), write: describeWrite(writes) };
      await checks.check({ action: 'create', target: 'sessions', ...asked });
    });
  }

  /** Notes what the list of this call may have. */
  async mayList(context: ServerCallContext): Promise<void> {
    this.#filters.delete(context);
    await this.#ask('', async (checks) => {
      const asked = { ...this.scope.ownerOf(context), request: requestOf(context), input: {} };
      const filter = await checks.checkRequirement({ action: 'list', target: 'sessions' }, asked, true);
      if (filter) this.#filters.set(context, filter);
    });
  }

  /** Undefined if the rule allows the whole list. */
  filterOf(context: ServerCallContext): SessionFilter | undefined {
    return this.#filters.get(context);
  }

  /** Undefined without a rule. Close it with the stream. */
  follow(taskId: string, context: ServerCallContext): StreamAccess | undefined {
    const key = this.scope.findKey(taskId, context);
    if (!key) return undefined;
    return this.#checks()?.followStream({ action: 'read', target: 'session', ...key, request: requestOf(context) });
  }

  /** As the SDK tells it to clients. What they do not learn is logged. */
  errorOf(error: unknown, taskId: string): Error {
    if (error instanceof SessionNotFoundError) return new TaskNotFoundError(`Task not found: ${taskId}`);
    const { status, detail } = reportProblem(this.#logger, error, { sessionId: taskId });
    return status < 500 ? new RequestMalformedError(detail) : new Error(detail);
  }

  async #askAbout(
    taskId: string,
    context: ServerCallContext,
    action: 'read' | 'write',
    writes?: TaskWrite,
  ): Promise<void> {
    await this.#ask(taskId, async (checks) => {
      const key = this.scope.findKey(taskId, context);
      // There cannot be such a task.
      if (!key) return;
      const write = writes && describeWrite(writes);
      await checks.check({ action, target: 'session', ...key, request: requestOf(context), ...(write && { write }) });
    });
  }

  async #ask(taskId: string, question: (checks: AccessChecks) => Promise<void>): Promise<void> {
    try {
      const checks = this.#checks();
      if (checks) await question(checks);
    } catch (error) {
      throw this.errorOf(error, taskId);
    }
  }

  #checks(): AccessChecks | undefined {
    return this.#own ?? checksFor(this.sessions);
  }
}

/** What the SDK knows of a request, in the shape of one: rules read its user, or find one by its headers. */
function requestOf({ user, state }: ServerCallContext): object {
  return { user: user?.isAuthenticated ? userOf(user) : undefined, headers: state.get(HEADERS) ?? {} };
}

/** With the name as `id`, unless it has one. */
function userOf(user: User): AccessUser {
  return { id: user.userName, ...user };
}
