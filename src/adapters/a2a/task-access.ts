import { A2AError, RequestMalformedError, restStatusFor, TaskNotFoundError } from '@a2a-js/sdk/errors';
import type { ServerCallContext, User } from '@a2a-js/sdk/server';
import { HttpException, Logger } from '@nestjs/common';
import {
  AccessChecks,
  assertEvent,
  checksFor,
  describeWrite,
  reportProblem,
  type StreamAccess,
  withOutcome,
} from '../../adapter.js';
import {
  ConfigurationError,
  type EventInput,
  type SessionFilter,
  SessionNotFoundError,
  type SessionService,
} from '../../index.js';
import type { AccessUser, SessionAccess } from '../../sessions/rest/index.js';
import type { TaskScope } from './task-scope.js';

/** What a call writes, for the access rule. */
export type TaskWrite = Parameters<typeof describeWrite>[0];

interface TaskQuestion {
  readonly action: 'read' | 'write';
  readonly writes?: TaskWrite;
  readonly isPart?: boolean;
}

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

/** Asks the access rule what the client of a call may do, as other transports do. Without a rule, refuses only who has no tasks. */
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

  /** Does what a client asks for if it may. The audit notes what came of it. */
  async call<Result>(
    context: ServerCallContext,
    ask: () => Promise<void>,
    work: () => Promise<Result>,
    { isStream = false } = {},
  ): Promise<Result> {
    const asked = async (): Promise<Result> => {
      await ask();
      return work();
    };
    try {
      return await withOutcome(toAccessRequest(context), asked, { isStream, errorOf: knownError });
    } catch (error) {
      throw this.errorOf(error);
    }
  }

  /** @param isPart whether it belongs to what was asked before */
  async mayRead(taskId: string, context: ServerCallContext, { isPart = false } = {}): Promise<void> {
    await this.#askAbout(taskId, context, { action: 'read', isPart });
  }

  /** Who writes gets the task, so they have to be allowed to read it. */
  async mayWrite(taskId: string, context: ServerCallContext, writes: TaskWrite = {}): Promise<void> {
    await this.mayRead(taskId, context, { isPart: true });
    await this.#askAbout(taskId, context, { action: 'write', writes });
  }

  async mayBegin(context: ServerCallContext, writes: TaskWrite): Promise<void> {
    const { appName, userId } = this.scope.keyOf('new', context);
    const asked = { appName, userId, request: toAccessRequest(context), write: describeWrite(writes) };
    await this.#checks()?.check({ action: 'create', target: 'sessions', ...asked });
  }

  /** Refuses what a session cannot keep. */
  assertKept(event: EventInput): void {
    assertEvent(this.sessions, event);
  }

  /** Notes what the list of this call may have. */
  async mayList(context: ServerCallContext): Promise<void> {
    this.#filters.delete(context);
    const asked = { ...this.scope.ownerOf(context), request: toAccessRequest(context), input: {} };
    const filter = await this.#checks()?.checkRequirement({ action: 'list', target: 'sessions' }, asked, true);
    if (filter) this.#filters.set(context, filter);
  }

  /** Undefined if the rule allows the whole list. */
  filterOf(context: ServerCallContext): SessionFilter | undefined {
    return this.#filters.get(context);
  }

  /** Undefined without a rule. Close it with the stream. */
  follow(taskId: string, context: ServerCallContext): StreamAccess | undefined {
    const key = this.scope.findKey(taskId, context);
    if (!key) return undefined;
    return this.#checks()?.followStream({
      action: 'read',
      target: 'session',
      ...key,
      request: toAccessRequest(context),
    });
  }

  /** As the SDK tells it to clients. What they do not learn is logged. */
  errorOf(error: unknown): Error {
    if (error instanceof A2AError) return error;
    if (error instanceof SessionNotFoundError) return new TaskNotFoundError(`Task not found: ${error.sessionId}`);
    const { status, detail } = reportProblem(this.#logger, error);
    return status < 500 ? new RequestMalformedError(detail) : new Error(detail);
  }

  async #askAbout(taskId: string, context: ServerCallContext, { action, writes, isPart }: TaskQuestion): Promise<void> {
    const key = this.scope.findKey(taskId, context);
    // There cannot be such a task.
    if (!key) return;
    const asked = { action, target: 'session', ...key, request: toAccessRequest(context) } as const;
    await this.#checks()?.check({ ...asked, ...(writes && { write: describeWrite(writes) }) }, { isPart });
  }

  #checks(): AccessChecks | undefined {
    return this.#own ?? checksFor(this.sessions);
  }
}

const requests = new WeakMap<ServerCallContext, object>();

/** What the SDK knows of a request, in the shape of one: rules read its user, or find one by its headers. */
function toAccessRequest(context: ServerCallContext): object {
  const { user, state } = context;
  const known = requests.get(context);
  if (known) return known;
  const made = { user: user?.isAuthenticated ? toAccessUser(user) : undefined, headers: state.get(HEADERS) ?? {} };
  requests.set(context, made);
  return made;
}

/** Of an error of the SDK, what the audit has a code for. */
function knownError(error: unknown): unknown {
  return error instanceof A2AError ? new HttpException('', restStatusFor(error)) : error;
}

/** With the name as `id`, unless it has one. */
function toAccessUser(user: User): AccessUser {
  return { id: user.userName, ...user };
}
