import {
  type EventInput,
  type HistorySettings,
  InMemorySessionStorage,
  type Session,
  SessionService,
} from '../../src/index.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { CountingStorage } from '../support/counting-storage.js';
import { randomNumbers } from '../support/random.js';
import { KEY, SESSION } from './operations.js';

const NOTHING = { ranges: 0, anchors: 0, events: 0 };
const userSays: EventInput = { author: 'user', content: { parts: [{ text: 'Hello' }] } };
const agentSays: EventInput = { author: 'agent', content: { parts: [{ text: 'Hello' }] } };

function calls(...ids: string[]): EventInput {
  return { author: 'agent', content: { parts: ids.map((id) => ({ functionCall: { id, name: 'look', args: {} } })) } };
}

function answers(id: string): EventInput {
  return { author: 'agent', content: { parts: [{ functionResponse: { id, name: 'look', response: {} } }] } };
}

/** Turns in which the agent calls up to three tools at once and says something now and then before they answer. */
function conversation(turns: number): EventInput[] {
  const random = randomNumbers(7);
  return Array.from({ length: turns }, (_, turn) => {
    const ids = Array.from({ length: Math.floor(random() * 4) }, (_none, index) => `${turn}-${index}`);
    const answered = ids.flatMap((id) => (random() < 0.3 ? [agentSays, answers(id)] : [answers(id)]));
    return [userSays, ...(ids.length > 0 ? [calls(...ids)] : []), ...answered, agentSays];
  }).flat();
}

describe('what an append through a session object reads after its commit', () => {
  const clock = new ManualClock(1_700_000_000_000);
  let counting: CountingStorage;
  let sessions: SessionService;

  async function open(history: Partial<HistorySettings>, before: readonly EventInput[] = []): Promise<Session> {
    counting = new CountingStorage(new InMemorySessionStorage({ clock }));
    sessions = new SessionService({ storage: counting.storage, clock, history });
    const session = await sessions.createSession(KEY);
    for (const event of before) await sessions.appendEvent({ session: SESSION, event });
    counting.taken();
    return session;
  }

  async function loaded(): Promise<Session> {
    const session = await sessions.getSession(KEY);
    if (!session) throw new Error('The session is not there');
    counting.taken();
    return session;
  }

  it.each([1, 5, 20])('nothing in an object that holds the conversation, with a view of %d', async (maxEvents) => {
    const session = await open({ maxEvents });
    for (const event of conversation(200)) await sessions.appendEvent({ session, event });
    expect(counting.taken()).toEqual(NOTHING);
  });

  it('nothing with a limit of age in an object that holds the conversation', async () => {
    const session = await open({ eventTtlSeconds: 60 });
    for (const event of conversation(200)) {
      clock.advanceSeconds(20);
      await sessions.appendEvent({ session, event });
    }
    expect(counting.taken()).toEqual(NOTHING);
  });

  it.each([
    { maxEvents: 20, share: 0 },
    { maxEvents: 8, share: 0 },
    { maxEvents: 3, share: 0.12 },
  ])(
    'hardly ever something in an object loaded for each append, with a view of $maxEvents',
    async ({ maxEvents, share }) => {
      await open({ maxEvents });
      const events = conversation(200);
      let reading = 0;
      for (const event of events) {
        const session = await loaded();
        await sessions.appendEvent({ session, event });
        if (counting.taken().ranges > 0) reading++;
      }
      expect(reading / events.length).toBeLessThanOrEqual(share);
    },
  );

  it('nothing for what is no answer of a tool, however old the call before it is', async () => {
    await open({ eventTtlSeconds: 60 }, [userSays, calls('c')]);
    clock.advanceSeconds(3600);
    const session = await loaded();
    for (const event of [agentSays, userSays, calls('d'), agentSays, answers('d')]) {
      await sessions.appendEvent({ session, event });
    }
    expect(counting.taken()).toEqual(NOTHING);
  });

  it('19 events once, where the call of an answer may lie before the newest 20', async () => {
    await open({ maxEvents: 20 }, [userSays, calls('c'), ...Array.from({ length: 40 }, () => agentSays)]);
    const session = await loaded();
    await sessions.appendEvent({ session, event: answers('c') });
    expect(counting.taken()).toEqual({ ranges: 1, anchors: 0, events: 19 });
    for (let count = 0; count < 10; count++) await sessions.appendEvent({ session, event: answers('c') });
    expect(counting.taken()).toEqual(NOTHING);
  });

  it('the events before and the anchor, where a call comes back that lies behind another anchor', async () => {
    await open({ maxEvents: 2 }, [
      userSays,
      ...Array.from({ length: 30 }, () => agentSays),
      calls('c'),
      userSays,
      agentSays,
    ]);
    const session = await loaded();
    await sessions.appendEvent({ session, event: answers('c') });
    expect(counting.taken()).toEqual({ ranges: 1, anchors: 1, events: 20 });
    expect(session.events.map(({ seq }) => seq)).toEqual([1, 32, 33, 34, 35]);
  });
});
