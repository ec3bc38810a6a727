import type { SendMessageRequest, StreamResponse } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import type { DefaultRequestHandler } from '@a2a-js/sdk/server';
import { message } from './tasks.js';

const configuration = { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true };
/** Where somebody wants to be told about a task. */
export const config = {
  tenant: '',
  id: 'c',
  url: 'https://93.184.216.34/',
  token: 'secret',
  authentication: undefined,
};

/** A message, to a task or to begin one. The answer is the beginning. */
export function saying(text: string, taskId = ''): SendMessageRequest {
  return { tenant: '', message: { ...message(`m of ${text}`, text), taskId }, configuration, metadata: undefined };
}

export async function allEvents(events: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  const found: StreamResponse[] = [];
  for await (const event of events) found.push(event);
  return found;
}

interface Method {
  readonly name: keyof DefaultRequestHandler;
  readonly call: (client: Client, id: string) => Promise<unknown>;
  /** What the rule is asked. */
  readonly asks: readonly string[];
}

const WRITES = ['read session t1', 'write session t1'];

/** All methods for one task, which has a push notification `planted`. */
export const METHODS: readonly Method[] = [
  { name: 'getTask', call: (client, id) => client.getTask({ tenant: '', id }), asks: ['read session t1'] },
  {
    name: 'sendMessage',
    call: (client, id) => client.sendMessage(saying('ask', id)),
    asks: ['read session t1', 'write session t1 text'],
  },
  {
    name: 'sendMessageStream',
    call: (client, id) => allEvents(client.sendMessageStream(saying('count', id))),
    asks: ['read session t1', 'write session t1 text'],
  },
  {
    name: 'cancelTask',
    call: (client, id) => client.cancelTask({ tenant: '', id, metadata: undefined }),
    asks: ['read session t1', 'write session t1 stop'],
  },
  {
    name: 'resubscribe',
    call: (client, id) => allEvents(client.resubscribeTask({ tenant: '', id })),
    asks: ['read session t1'],
  },
  {
    name: 'createTaskPushNotificationConfig',
    call: (client, taskId) => client.createTaskPushNotificationConfig({ ...config, taskId }),
    asks: WRITES,
  },
  {
    name: 'getTaskPushNotificationConfig',
    call: (client, taskId) => client.getTaskPushNotificationConfig({ tenant: '', taskId, id: 'planted' }),
    asks: WRITES,
  },
  {
    name: 'listTaskPushNotificationConfigs',
    call: (client, taskId) =>
      client.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 10, pageToken: '' }),
    asks: WRITES,
  },
  {
    name: 'deleteTaskPushNotificationConfig',
    call: (client, taskId) => client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: 'planted' }),
    asks: WRITES,
  },
];
