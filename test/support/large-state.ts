/** A program that appends 256 times a megabyte of state, and then reads the session in each way. Prints what it saw. */
import { InMemorySessionStorage, LimitExceededError, SessionService } from '../../src/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };

async function main(): Promise<void> {
  const sessions = new SessionService({ storage: new InMemorySessionStorage() });
  await sessions.createSession(KEY);
  let [stored, refused] = [0, 0];
  for (let number = 0; number < 256; number++) {
    const actions = { stateDelta: { [`key ${number}`]: 'x'.repeat(1_000_000) } };
    try {
      await sessions.appendEvent({ session: { ...KEY, id: KEY.sessionId }, event: { author: 'user', actions } });
      stored += 1;
    } catch (error) {
      if (!(error instanceof LimitExceededError)) throw error;
      refused += 1;
    }
  }
  const session = await sessions.getSession(KEY);
  const { sessions: listed } = await sessions.listSessions(KEY);
  const { state } = await sessions.stateAt({ ...KEY, seq: stored });
  const keys = Object.keys(session?.state.toRecord() ?? {}).length;
  await sessions.close();
  console.log(JSON.stringify({ stored, refused, keys, listed: listed.length, at: Object.keys(state).length }));
}

void main();
