// A process of the example of a queue: `api` appends turns to sessions and notes what is due, `worker` writes summaries until it is killed.
import { RedisSessionStorage } from 'nestjs-agent-sessions/redis';
import { SessionService } from 'nestjs-agent-sessions';
import { SummarizerSessionManager } from 'nestjs-agent-sessions/summarizer';
import { queueDueSummaries, summaryWorker } from '../../examples/dist/summary-queue/summary-queue.js';

const { role, url, prefix, modelUrl, sessionIds, options, sweeps } = JSON.parse(process.argv[2]);
const sessions = new SessionService({ storage: new RedisSessionStorage({ url, prefix }) });
const modelAt = { baseUrl: modelUrl, model: 'of-the-test' };
const summaries = new SummarizerSessionManager({ sessions }, { ...options, modelAt, leaveToOthers: role === 'api' });
const queue = { connection: { url }, prefix };

if (role === 'api') {
  const jobs = queueDueSummaries(summaries, queue);
  await Promise.all(sessionIds.map(appendTurns));
  await summaries.whenIdle();
  await summaries.close();
  await jobs.close();
  await sessions.close();
} else {
  summaryWorker(summaries, { ...queue, concurrency: 8, lockDuration: 1_000, stalledInterval: 300 }).on(
    'error',
    console.error,
  );
  process.send('ready');
  if (sweeps) for (;;) await summaries.sweep();
}

async function appendTurns(id) {
  const session = { appName: 'shop', userId: 'ann', id };
  await sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: id });
  for (const text of ['q1', 'a1', 'q2, which is long', 'a2', 'q3', 'a3', 'q4']) {
    const isQuestion = text.startsWith('q');
    const content = { role: isQuestion ? 'user' : 'model', parts: [{ text }] };
    await sessions.appendEvent({ session, event: { author: isQuestion ? 'user' : 'agent', content } });
  }
}
