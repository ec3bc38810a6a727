import 'reflect-metadata';
import { type AddressInfo } from 'node:net';
import { type AgentCard, Role, TaskState } from '@a2a-js/sdk';
import { type Client, ClientFactory } from '@a2a-js/sdk/client';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultPushNotificationSender,
  type PushNotificationSender,
  type PushNotificationStore,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler } from '@a2a-js/sdk/server/express';
import { type INestApplication, Module, type ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionRequestHandler, type SessionTaskStore } from '../../../../src/adapters/a2a/index.js';
import { artifact, message, statusOf, taskOf } from './tasks.js';

/**
 * Counts to three in an artifact. Asks back when it hears "ask", works until it is cancelled when it hears "wait", and counts when its gate
 * opens when it hears "slowly".
 */
export class CountingAgent implements AgentExecutor {
  gate = Promise.resolve();

  readonly execute: AgentExecutor['execute'] = async ({ taskId, contextId, userMessage, task }, bus) => {
    const inTask = { taskId, contextId, metadata: undefined };
    const [part] = userMessage.parts;
    const said = part?.content?.$case === 'text' ? part.content.value : '';
    bus.publish(AgentEvent.task(task ?? taskOf(taskId, { contextId, history: [userMessage] })));
    if (said === 'wait') return;
    if (said === 'slowly') await this.gate;
    if (said === 'ask') {
      const question = message(`question of ${taskId}`, 'How far?', Role.ROLE_AGENT);
      const status = statusOf(TaskState.TASK_STATE_INPUT_REQUIRED, new Date().toISOString(), question);
      bus.publish(AgentEvent.statusUpdate({ ...inTask, status }));
      return;
    }
    for (const number of [1, 2, 3]) {
      const chunk = artifact('numbers', String(number));
      bus.publish(
        AgentEvent.artifactUpdate({ ...inTask, artifact: chunk, append: number > 1, lastChunk: number === 3 }),
      );
    }
    const done = statusOf(TaskState.TASK_STATE_COMPLETED, new Date().toISOString());
    bus.publish(AgentEvent.statusUpdate({ ...inTask, status: done }));
    bus.finished();
  };

  readonly cancelTask: AgentExecutor['cancelTask'] = async (taskId, bus) => {
    const status = statusOf(TaskState.TASK_STATE_CANCELED, new Date().toISOString());
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId: 'c1', metadata: undefined, status }));
    bus.finished();
  };
}

@Module({})
class AppModule {}

/** The stores of a server. */
export interface ServerStores {
  readonly tasks: SessionTaskStore;
  readonly push: PushNotificationStore;
  /** Default: that of the SDK. */
  readonly sender?: PushNotificationSender;
}

export interface RunningServer {
  readonly client: Client;
  readonly agent: CountingAgent;
  readonly stop: () => Promise<void>;
}

export function cardOf(): AgentCard {
  return {
    name: 'Counter',
    description: 'Counts.',
    version: '1',
    supportedInterfaces: [],
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: true, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    signatures: [],
  };
}

/** The SDK's server over stores, in an app with these modules, and a client of it. The user is ann. */
export async function startServer(
  open: (app: INestApplication) => ServerStores,
  imports: ModuleMetadata['imports'] = [],
): Promise<RunningServer> {
  const app = await NestFactory.create({ module: AppModule, imports }, { logger: false, forceCloseConnections: true });
  const { tasks, push, sender = new DefaultPushNotificationSender(push) } = open(app);
  const card = cardOf();
  const agent = new CountingAgent();
  const requestHandler = new SessionRequestHandler(card, tasks, agent, undefined, push, sender);
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use(
    '/a2a',
    jsonRpcHandler({ requestHandler, userBuilder: async () => ({ isAuthenticated: true, userName: 'ann' }) }),
  );
  const server = await app.listen(0, '127.0.0.1');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  card.supportedInterfaces.push({ url: `${url}/a2a`, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' });
  return {
    client: await new ClientFactory().createFromUrl(url),
    agent,
    stop: () => app.close(),
  };
}
