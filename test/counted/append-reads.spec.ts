import { type EventInput, InMemorySessionStorage, type Session, SessionService } from '../../src/index.js';
import type { HistorySettings } from '../../src/config/session-settings.js';
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

/** Turns, before the first checkpoint, in which the agent makes up to three parallel tool calls, sometimes with a message before the responses. */
function conversation(turns: number): EventInput[] {
  const random = randomNumbers(7);
  return Array.from({ length: turns }, (_, turn) => {
    const ids = Array.from({ length: Math.floor(random() * 4) }, (_none, index) => `${turn}-${index}`);
    const answered = ids.flatMap((id) => (random() < 0.3 ? [agentSays, answers(id)] : [answers(id)]));
    return [userSays, ...(ids.length > 0 ? [calls(...ids)] : []), ...answered, agentSays];
  }).flat();
}

describe('reads of an append through a session object after its commit', () => {
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
    if (!session) throw new Error('The session is missing');
    counting.taken();
    return session;
  }

  it.each([1, 5, 20])('none for an object that holds the conversation, with a view of %d', async (maxEvents) => {
    const session = await open({ maxEvents });
    for (const event of conversation(50)) await sessions.appendEvent({ session, event });
    expect(counting.taken()).toEqual(NOTHING);
  });

  it('none with an age limit for an object that holds the conversation', async () => {
    const session = await open({ eventTtlSeconds: 60 });
    for (const event of conversation(50)) {
      clock.advanceSeconds(20);
      await sessions.appendEvent({ session, event });
    }
    expect(counting.taken()).toEqual(NOTHING);
  });

  it.each([
    { maxEvents: 20, share: 0 },
    { maxEvents: 8, share: 0 },
    { maxEvents: 3, share: 0.12 },
  ])('rarely any for an object loaded for each append, with a view of $maxEvents', async ({ maxEvents, share }) => {
    await open({ maxEvents });
    const events = conversation(50);
    let reading = 0;
    for (const event of events) {
      const session = await loaded();
      await sessions.appendEvent({ session, event });
      if (counting.taken().ranges > 0) reading++;
    }
    expect(reading / events.length).toBeLessThanOrEqual(share);
  });

  it('none for an event that is no tool response, after a call of any age', async () => {
    await open({ eventTtlSeconds: 60 }, [userSays, calls('c')]);
    clock.advanceSeconds(3600);
    const session = await loaded();
    for (const event of [agentSays, userSays, calls('d'), agentSays, answers('d')]) {
      await sessions.appendEvent({ session, event });
    }
    expect(counting.taken()).toEqual(NOTHING);
  });

  it('19 events once, if the call of a response may be before the newest 20', async () => {
    await open({ maxEvents: 20 }, [userSays, calls('c'), ...Array.from({ length: 40 }, () => agentSays)]);
    const session = await loaded();
    await sessions.appendEvent({ session, event: answers('c') });
    expect(counting.taken()).toEqual({ ranges: 1, anchors: 0, events: 19 });
    for (let count = 0; count < 10; count++) await sessions.appendEvent({ session, event: answers('c') });
    expect(counting.taken()).toEqual(NOTHING);
  });

  it('earlier events and the anchor, if a call across another anchor is added', async () => {
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
