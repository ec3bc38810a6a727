import { isPlainObject } from '../../../src/sessions/domain/values/json-value.js';
import type { TestStore } from '../../support/stores.js';
import { SESSION, USER, expectRefusals, load, sharedSession, withSession } from './harness.js';
import { ILLEGAL_EVENTS, LEGAL_EVENTS } from './tables/events.js';

/** So that nothing but the author that a row gives can be wrong with it. */
function withAuthor(event: unknown): unknown {
  return isPlainObject(event) ? { author: 'user', ...event } : event;
}

export function acceptedEvents(store: TestStore): void {
  describe('events', () => {
    it.each(LEGAL_EVENTS)('%s is stored', async (_name, event, stored) => {
      await withSession(store, async ({ sessions }) => {
        const session = await load(sessions);
        const answer = await sessions.appendEvent({ session, event: { author: 'user', ...event } });
        expect(answer).toMatchObject({ ...stored, seq: 2 });
        expect((await load(sessions)).events[1]).toEqual(answer);
        expect(session.events[1]).toEqual(answer);
        const other = await sessions.createSession(USER);
        const events = [
          { author: 'user', ...event },
          { author: 'agent', actions: { stateDelta: { last: true } } },
        ];
        const batch = await sessions.appendEvents({ session: other, events });
        expect(batch).toMatchObject([{ ...stored, seq: 1 }, { seq: 2 }]);
        expect((await load(sessions, { ...USER, sessionId: other.id })).events).toEqual(batch);
        expect(other.events).toEqual(batch);
      });
    });
  });
}

/** Refusals happen above the stores, so one store is enough. */
export function refusedEvents(store: TestStore): void {
  describe('events', () => {
    const opened = sharedSession(store);

    it.each(ILLEGAL_EVENTS)('%s is refused', async (_name, event, path) => {
      await expectRefusals(await opened(), [
        {
          code: 'INVALID_INPUT',
          path,
          request: async (sessions) => sessions.appendEvent({ session: SESSION, event: withAuthor(event) as never }),
        },
        {
          code: 'INVALID_INPUT',
          // Where a summary or a rewind has to refer to is checked after its batch.
          ...(!/\.(compaction|rewind)\.toSeq$/.test(path) && { path: path.replace('$', '$.events[1]') }),
          request: async (sessions) =>
            sessions.appendEvents({ session: SESSION, events: [{ author: 'user' }, withAuthor(event) as never] }),
        },
      ]);
    });
  });
}
