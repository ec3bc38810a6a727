/** A program that lets large messages wait behind a run, and answers them all. Prints how many were answered, by their policy. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AgentSessions, type RunHandler, type RunPolicy } from '../../../src/agents/index.js';
import { SessionService } from '../../../src/index.js';
import { TypeOrmSessionStorage } from '../../../src/typeorm.js';
import { text } from './handlers.js';

const USER = { appName: 'shop', userId: 'ann' };
const COUNT = 30;
/** V8 keeps a text with such a letter with two bytes for each. */
const LARGE = '€'.padEnd(900_000, 'x');

const echo: RunHandler = async function* () {
  yield text('answered');
};

async function answerAll(sessions: SessionService, agents: AgentSessions, policy: RunPolicy): Promise<number> {
  const key = { ...USER, sessionId: policy };
  const gate = new AbortController();
  const released = once(gate.signal, 'abort');
  const first = agents.run({ ...key, newMessage: 'first' }, async function* (context) {
    await released;
    // Some of them. The others get turns of their own.
    await context.takeMessages();
    await context.takeMessages();
    yield text('answered');
  });
  const hasEvents = async (count: number): Promise<void> => {
    const view = { ...key, config: { numRecentEvents: 0 } };
    while (((await sessions.getSession(view))?.version ?? 0) < count) await delay(5);
  };
  await hasEvents(1);
  const answers: Promise<boolean>[] = [];
  for (let number = 1; number <= COUNT; number++) {
    const run = agents.run({ ...key, newMessage: `${number} ${LARGE}`, policy }, echo);
    answers.push(run.result.then(({ status }) => status === 'completed'));
    await hasEvents(1 + number);
  }
  gate.abort();
  await first.result;
  return (await Promise.all(answers)).filter(Boolean).length;
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'waiting-'));
  const storage = new TypeOrmSessionStorage({ database: join(folder, 'sessions.db') });
  const sessions = new SessionService({ storage, limits: { maxViewBytes: 2_097_152, maxPageBytes: 2_097_152 } });
  const agents = new AgentSessions({ sessions });
  const answered = {
    enqueue: await answerAll(sessions, agents, 'enqueue'),
    merge: await answerAll(sessions, agents, 'merge'),
  };
  await agents.close();
  await sessions.close();
  rmSync(folder, { recursive: true });
  console.log(JSON.stringify(answered));
}

void main();
