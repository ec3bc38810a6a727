import { SessionTaskStore } from '../../../../src/adapters/a2a/index.js';
import { SessionEventStore } from '../../../../src/adapters/mcp/index.js';
import { callOf, message, taskOf } from '../../a2a/support/tasks.js';
import type { WalkApp } from './walk-app.js';
import { SECRET } from './walk-requests.js';
import type { Headers } from './walk-users.js';

/** A task of ann. */
export const TASK = 'task-of-ann';
/** The transport of ann. */
const TRANSPORT = 'transport-of-ann';
const MCP = { accept: 'application/json, text/event-stream', 'mcp-session-id': TRANSPORT };

/** The methods of A2A: the SDK has them in one route. */
const METHODS = [
  'SendMessage',
  'SendStreamingMessage',
  'SubscribeToTask',
  'GetTask',
  'ListTasks',
  'CancelTask',
  'CreateTaskPushNotificationConfig',
  'GetTaskPushNotificationConfig',
  'ListTaskPushNotificationConfigs',
  'DeleteTaskPushNotificationConfig',
];

/** Gives ann a task and a stream of MCP. Returns the id of the event before its secret. */
export async function plantServers({ sessions }: WalkApp): Promise<string> {
  const tasks = new SessionTaskStore({ sessions, appName: 'shop' });
  await tasks.save(taskOf(TASK, { history: [message('m', SECRET)] }), callOf({ user: 'ann' }));
  const store = new SessionEventStore({ sessions, appName: 'shop-mcp', userId: 'ann', mcpSessionId: TRANSPORT });
  const place = await store.storeEvent('stream', { jsonrpc: '2.0' });
  await store.storeEvent('stream', { jsonrpc: '2.0', method: 'notifications/message', params: { data: SECRET } });
  return place;
}

/** A message that a client sends to an agent of A2A. */
export function a2aMessage(fields: object = {}): object {
  return { messageId: 'm-walk', taskId: TASK, role: 'ROLE_USER', parts: [{ text: 'hi' }], ...fields };
}

export async function callA2a(app: WalkApp, method: string, params: object, headers: Headers): Promise<string> {
  const body = { jsonrpc: '2.0', id: 1, method, params };
  return (await app.send('POST', '/a2a', body, headers)).text;
}

/** Asks all methods for the task of ann, as a task of the caller and as one of hers. */
export async function walkMethods(app: WalkApp, headers: Headers): Promise<{ shown: string[]; changed: string[] }> {
  const [shown, changed]: [string[], string[]] = [[], []];
  for (const method of METHODS) {
    for (const tenant of ['', 'ann']) {
      const before = await app.everythingOf('ann');
      const config = { url: 'https://93.184.216.34/hook' };
      const params = { id: TASK, taskId: TASK, tenant, ...config, includeArtifacts: true, message: a2aMessage() };
      const answer = await callA2a(app, method, params, headers);
      if (answer.includes('Invalid method')) throw new Error(`${method} is unknown`);
      if (answer.includes(SECRET)) shown.push(method);
      if ((await app.everythingOf('ann')) !== before) changed.push(method);
    }
  }
  return { shown: [...new Set(shown)], changed: [...new Set(changed)] };
}

/** What a caller reads of the stream of ann by the id of an event, and whether they changed it. */
export async function walkStream(app: WalkApp, place: string, headers: Headers) {
  const before = await app.everythingOf('ann', 'shop-mcp');
  const answers: string[] = [];
  for (const method of ['POST', 'DELETE', 'GET']) {
    const response = await fetch(`${app.url}/mcp`, {
      method,
      headers: { ...MCP, 'last-event-id': place, 'content-type': 'application/json', ...headers },
      ...(method === 'POST' && { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }) }),
    });
    answers.push(`${response.status} ${await beginningOf(response)}`);
  }
  const isChanged = (await app.everythingOf('ann', 'shop-mcp')) !== before;
  return { answers, isChanged };
}

/** The body, or what a stream says at once. */
async function beginningOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text();
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const { value = '' } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return value;
}
