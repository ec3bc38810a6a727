import { AgentSessions, type RunHandler } from '../../src/agents/index.js';
import { InMemorySessionService } from '../../src/index.js';
import { untilCollected } from '../support/collected.js';

const RUNS = 20;

/** What handlers worked on, as long as somebody keeps it. */
const kept: WeakRef<object>[] = [];

const listening: RunHandler = async function* ({ signal }) {
  const work = { isStopped: false };
  kept.push(new WeakRef(work));
  // As libraries do, which never remove it.
  signal.addEventListener('abort', () => void (work.isStopped = true));
  yield { author: 'agent', content: { role: 'model', parts: [{ text: 'Hi' }] } };
};

it('a run that has ended leaves nothing of what listened to its end', async () => {
  const sessions = new InMemorySessionService();
  const agents = new AgentSessions({ sessions });
  for (let count = 0; count < RUNS; count++) {
    const key = { appName: 'shop', userId: 'ann', sessionId: `s-${count}` };
    await agents.run({ ...key, newMessage: 'Hello' }, listening).result;
  }
  await untilCollected(kept, 1, 'Runs are kept');
  await agents.close();
  await sessions.close();
});
