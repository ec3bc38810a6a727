import { type EventInput, InMemorySessionStorage, SessionService } from '../../src/index.js';
import { diagnose } from '../../src/doctor/index.js';
import { CountingStorage } from '../support/counting-storage.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's' };
/** No checkpoint comes between. */
const EVENTS = 200;
const TEXT = 'x'.repeat(100_000);
/** The bytes of a page, and one event, which may be larger than that. */
const MOST = 4_194_304 + 2 * TEXT.length;

describe('A log of large events is never read as one page', () => {
  let counting: CountingStorage;
  let sessions: SessionService;

  beforeEach(async () => {
    counting = new CountingStorage(new InMemorySessionStorage());
    sessions = new SessionService({ storage: counting.storage });
    await sessions.createSession(KEY);
    for (let seq = 1; seq <= EVENTS; seq++) {
      const event: EventInput = { author: 'user', content: { parts: [{ text: TEXT }] } };
      await sessions.appendEvent({ session: SESSION, event: { ...event, actions: { stateDelta: { seq } } } });
    }
    counting.takenLargest();
    counting.taken();
  });

  afterEach(() => sessions.close());

  const replays: Readonly<Record<string, () => Promise<unknown>>> = {
    'for the state at a moment': async () => {
      const { state } = await sessions.stateAt({ ...KEY, seq: EVENTS });
      expect(state).toEqual({ seq: EVENTS });
    },
    'for the changes of state': async () => {
      const { changes } = await sessions.stateChanges({ ...KEY, limit: EVENTS });
      expect(changes.map(({ seq }) => seq)).toEqual(Array.from({ length: EVENTS }, (_, index) => index + 1));
    },
    'to rewind': () => sessions.rewindSession({ ...KEY, toSeq: EVENTS - 1 }),
    'for a summary of little': () =>
      sessions.appendEvent({
        session: SESSION,
        event: { author: 'system', actions: { compaction: { fromSeq: 1, toSeq: 1 } } },
      }),
    'by the doctor': async () => {
      expect(await diagnose({ sessions, pageSize: 1_000 })).toMatchObject({ isHealthy: true, events: EVENTS });
    },
  };

  it.each(Object.entries(replays))('%s', async (_name, replay) => {
    await replay();
    expect(counting.taken().events).toBeGreaterThanOrEqual(EVENTS - 1);
    const largest = counting.takenLargest();
    expect(largest).toBeGreaterThan(TEXT.length);
    expect(largest).toBeLessThan(MOST);
  });
});
