import { Message, Role } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { DefaultRequestHandler, type ServerCallContext } from '@a2a-js/sdk/server';
import { followedEvents, saidEvents } from './allowed-events.js';
import type { SessionTaskStore } from './session-task-store.js';
import { type TaskAccess, accessBehind } from './task-access.js';
import { objectOf } from './task-json.js';
import { writeOfMessage } from './task-records.js';

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
    await this.#maySend(...request);
    return super.sendMessage(...request);
  }

  override async *sendMessageStream(
    ...request: Parameters<Handler['sendMessageStream']>
  ): ReturnType<Handler['sendMessageStream']> {
    await this.#maySend(...request);
    const { taskId = '' } = request[0].message ?? {};
    yield* saidEvents(super.sendMessageStream(...request), this.#access, request[1], taskId);
  }

  override async getTask(...request: Parameters<Handler['getTask']>): ReturnType<Handler['getTask']> {
    await this.#access.mayRead(request[0].id, request[1]);
    return super.getTask(...request);
  }

  override async listTasks(...request: Parameters<Handler['listTasks']>): ReturnType<Handler['listTasks']> {
    await this.#access.mayList(request[1]);
    return super.listTasks(...request);
  }

  override async cancelTask(...request: Parameters<Handler['cancelTask']>): ReturnType<Handler['cancelTask']> {
    await this.#access.mayWrite(request[0].id, request[1], { controls: ['stop'] });
    return super.cancelTask(...request);
  }

  override async *resubscribe(...request: Parameters<Handler['resubscribe']>): ReturnType<Handler['resubscribe']> {
    await this.#access.mayRead(request[0].id, request[1]);
    yield* followedEvents(super.resubscribe(...request), this.#access, request[1], request[0].id);
  }

  override async createTaskPushNotificationConfig(
    ...request: Parameters<Handler['createTaskPushNotificationConfig']>
  ): ReturnType<Handler['createTaskPushNotificationConfig']> {
    await this.#access.mayWrite(request[0].taskId, request[1]);
    return super.createTaskPushNotificationConfig(...request);
  }

  override async getTaskPushNotificationConfig(
    ...request: Parameters<Handler['getTaskPushNotificationConfig']>
  ): ReturnType<Handler['getTaskPushNotificationConfig']> {
    await this.#access.mayWrite(request[0].taskId, request[1]);
    return super.getTaskPushNotificationConfig(...request);
  }

  override async listTaskPushNotificationConfigs(
    ...request: Parameters<Handler['listTaskPushNotificationConfigs']>
  ): ReturnType<Handler['listTaskPushNotificationConfigs']> {
    await this.#access.mayWrite(request[0].taskId, request[1]);
    return super.listTaskPushNotificationConfigs(...request);
  }

  override async deleteTaskPushNotificationConfig(
    ...request: Parameters<Handler['deleteTaskPushNotificationConfig']>
  ): ReturnType<Handler['deleteTaskPushNotificationConfig']> {
    await this.#access.mayWrite(request[0].taskId, request[1]);
    return super.deleteTaskPushNotificationConfig(...request);
  }

  async #maySend({ message }: Parameters<Handler['sendMessage']>[0], context: ServerCallContext): Promise<void> {
    // The SDK refuses a request without one.
    if (!message) return;
    if (message.role !== Role.ROLE_USER) throw new RequestMalformedError(BY_USERS);
    const writes = writeOfMessage(objectOf(Message.toJSON(message)));
    if (message.taskId) await this.#access.mayWrite(message.taskId, context, writes);
    else await this.#access.mayBegin(context, writes);
    // The agent gets them.
    for (const id of message.referenceTaskIds) await this.#access.mayRead(id, context);
  }
}
