/**
 * A program that lets adapters read sessions of many large events, on a file, in a process with little memory. Prints the number of
 * bytes that each reads.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentSessions } from '../../../../src/agents/index.js';
import { SessionTaskStore } from '../../../../src/adapters/a2a/index.js';
import { ChatSessions } from '../../../../src/adapters/ai-sdk/index.js';
import { SessionEventStore } from '../../../../src/adapters/mcp/index.js';
import { SessionService } from '../../../../src/index.js';
import { TypeOrmSessionStorage } from '../../../../src/typeorm.js';
import { callOf, listOf, message, taskOf } from '../../a2a/support/tasks.js';

const USER = { appName: 'shop', userId: 'ann' };
const COUNT = 120;
/** V8 keeps a text with such a letter with two bytes for each. */
const LARGE = '€'.padEnd(900_000, 'x');

const say = (text: string) => ({ jsonrpc: '2.0' as const, method: 'say', params: { text } });
const sizeOf = (value: unknown): number => JSON.stringify(value).length;

async function chat(sessions: SessionService): Promise<number> {
  const agents = new AgentSessions({ sessions });
  const key = { ...USER, sessionId: 'chat' };
  await sessions.createSession(key);
  for (let number = 0; number < COUNT; number++) {
    const event = { author: 'user', content: { role: 'user' as const, parts: [{ text: LARGE }] } };
    await sessions.appendEvents({ session: { ...USER, id: 'chat' }, events: [event] });
  }
  const messages = await new ChatSessions({ sessions, agents }).load(key);
  await agents.close();
  return sizeOf(messages);
}

async function tasks(sessions: SessionService): Promise<number> {
  const writer = new SessionTaskStore({ sessions, appName: 'tasks' });
  const call = callOf();
  for (let number = 0; number < COUNT; number++) {
    await writer.save(taskOf(`t${number}`, { history: [message('m', LARGE)] }), call);
  }
  const reader = new SessionTaskStore({ sessions, appName: 'tasks' });
  let most = 0;
  for (let pageToken = '', found = 0; found < COUNT;) {
    const page = await reader.list(listOf({ pageSize: 100, pageToken }), call);
    pageToken = page.nextPageToken;
    found += page.tasks.length;
    most = Math.max(most, sizeOf(page.tasks));
  }
  return most;
}

async function replay(sessions: SessionService): Promise<number> {
  const store = new SessionEventStore({ sessions, appName: 'mcp', userId: 'ann', mcpSessionId: 'm' });
  const first = await store.storeEvent('s', say('first'));
  for (let number = 0; number < COUNT; number++) await store.storeEvent('s', say(LARGE));
  let bytes = 0;
  await store.replayEventsAfter(first, { send: async (_id, said) => void (bytes += sizeOf(said)) });
  return bytes;
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'reading-'));
  const sessions = new SessionService({
    storage: new TypeOrmSessionStorage({ database: join(folder, 'sessions.db') }),
  });
  const read = { chat: await chat(sessions), tasks: await tasks(sessions), replay: await replay(sessions) };
  await sessions.close();
  rmSync(folder, { recursive: true });
  console.log(JSON.stringify(read));
}

void main();
