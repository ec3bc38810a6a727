import { randomUUID } from 'node:crypto';
import { Message, Role } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { DefaultRequestHandler, type ServerCallContext } from '@a2a-js/sdk/server';
import { toJsonRecord } from '../shared/given-json.js';
import { begunEvents, followedEvents, saidEvents } from './allowed-events.js';
import type { SessionTaskStore } from './session-task-store.js';
import { type TaskAccess, accessBehind } from './task-access.js';
import { messageEvent, writeOfMessage } from './task-records.js';

const BY_USERS = 'message.role must be ROLE_USER: clients do not speak for the agent.';

type Handler = DefaultRequestHandler;
type HandlerParts = ConstructorParameters<typeof DefaultRequestHandler>;
type PartsAfterTasks = HandlerParts extends [unknown, unknown, ...infer Rest] ? Rest : never;

/**
 * The request handler of the SDK, for tasks that are sessions. It asks the access rule of the app before each call of a client, and again
 * while a stream is open. It refuses messages by which a client would speak as the agent: the SDK takes any role, and what is stored as
 * said by the agent is the model's own for whoever reads the session.
 *
 * @example new SessionRequestHandler(agentCard, new SessionTaskStore({ sessions, appName: 'shop' }), executor);
 */
export class SessionRequestHandler extends DefaultRequestHandler {
  readonly #access: TaskAccess;

  constructor(agentCard: HandlerParts[0], tasks: SessionTaskStore, ...parts: PartsAfterTasks) {
    super(agentCard, tasks, ...parts);
    this.#access = accessBehind(tasks);
  }

  override async sendMessage(...request: Parameters<Handler['sendMessage']>): ReturnType<Handler['sendMessage']> {
    return this.#access.call(
      request[1],
      () => this.#maySend(...request),
      () => super.sendMessage(...request),
    );
  }

  override async *sendMessageStream(
    ...request: Parameters<Handler['sendMessageStream']>
  ): ReturnType<Handler['sendMessageStream']> {
    const [{ message }, context] = request;
    const events = saidEvents(super.sendMessageStream(...request), this.#access, context, message?.taskId ?? '');
    yield* begunEvents(this.#access, context, () => this.#maySend(...request), events);
  }

  override async getTask(...request: Parameters<Handler['getTask']>): ReturnType<Handler['getTask']> {
    return this.#access.call(
      request[1],
      () => this.#access.mayRead(request[0].id, request[1]),
      () => super.getTask(...request),
    );
  }

  override async listTasks(...request: Parameters<Handler['listTasks']>): ReturnType<Handler['listTasks']> {
    return this.#access.call(
      request[1],
      () => this.#access.mayList(request[1]),
      () => super.listTasks(...request),
    );
  }

  override async cancelTask(...request: Parameters<Handler['cancelTask']>): ReturnType<Handler['cancelTask']> {
    return this.#access.call(
      request[1],
      () => this.#access.mayWrite(request[0].id, request[1], { controls: ['stop'] }),
      () => super.cancelTask(...request),
    );
  }

  override async *resubscribe(...request: Parameters<Handler['resubscribe']>): ReturnType<Handler['resubscribe']> {
    const [{ id }, context] = request;
    const events = followedEvents(super.resubscribe(...request), this.#access, context, id);
    yield* begunEvents(this.#access, context, () => this.#access.mayRead(id, context), events);
  }

  override async createTaskPushNotificationConfig(
    ...request: Parameters<Handler['createTaskPushNotificationConfig']>
  ): ReturnType<Handler['createTaskPushNotificationConfig']> {
    return this.#ofConfigs(request, () => super.createTaskPushNotificationConfig(...request));
  }

  override async getTaskPushNotificationConfig(
    ...request: Parameters<Handler['getTaskPushNotificationConfig']>
  ): ReturnType<Handler['getTaskPushNotificationConfig']> {
    return this.#ofConfigs(request, () => super.getTaskPushNotificationConfig(...request));
  }

  override async listTaskPushNotificationConfigs(
    ...request: Parameters<Handler['listTaskPushNotificationConfigs']>
  ): ReturnType<Handler['listTaskPushNotificationConfigs']> {
    return this.#ofConfigs(request, () => super.listTaskPushNotificationConfigs(...request));
  }

  override async deleteTaskPushNotificationConfig(
    ...request: Parameters<Handler['deleteTaskPushNotificationConfig']>
  ): ReturnType<Handler['deleteTaskPushNotificationConfig']> {
    return this.#ofConfigs(request, () => super.deleteTaskPushNotificationConfig(...request));
  }

  /** Whoever may write to the task sees and changes where it is told what happens. */
  async #ofConfigs<Result>(
    [{ taskId }, context]: readonly [{ readonly taskId: string }, ServerCallContext],
    work: () => Promise<Result>,
  ): Promise<Result> {
    return this.#access.call(context, () => this.#access.mayWrite(taskId, context), work);
  }

  async #maySend({ message }: Parameters<Handler['sendMessage']>[0], context: ServerCallContext): Promise<void> {
    // The SDK refuses a request without one.
    if (!message) return;
    if (message.role !== Role.ROLE_USER) throw new RequestMalformedError(BY_USERS);
    // As the SDK stores it, when the agent has begun to work.
    const [taskId, contextId] = [message.taskId || randomUUID(), message.contextId || randomUUID()];
    const said = toJsonRecord(Message.toJSON({ ...message, taskId, contextId }));
    const writes = writeOfMessage(said);
    if (message.taskId) await this.#access.mayWrite(message.taskId, context, writes);
    else await this.#access.mayBegin(context, writes);
    // The agent gets them.
    for (const id of message.referenceTaskIds) await this.#access.mayRead(id, context);
    this.#access.assertKept(messageEvent({ message: said }, ''));
  }
}
