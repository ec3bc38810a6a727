import type { TestStore } from '../../support/stores.js';
import { KEY, SESSION, USER, type Refusal, expectRefusals, load, sharedSession, withSession } from './harness.js';
import { ILLEGAL_IDS, LEGAL_IDS } from './tables/ids.js';

function refusal(path: string, request: Refusal['request']): Refusal {
  return { code: 'INVALID_INPUT', path, request };
}

export function acceptedIds(store: TestStore): void {
  describe('ids', () => {
    const opened = sharedSession(store);

    it.each(LEGAL_IDS)('%j is an id like any other', async (id) => {
      const { sessions } = await opened();
      const key = { appName: id, userId: id, sessionId: id };
      const session = await sessions.createSession({ ...key, state: { own: id, 'user:own': id, 'app:own': id } });
      const stored = await sessions.appendEvent({ session, event: { id, author: 'user' } });
      expect(await sessions.append({ session, event: { id, author: 'user' } })).toEqual({
        event: stored,
        duplicate: true,
      });
      const read = await load(sessions, key);
      expect(read).toMatchObject({ id, appName: id, userId: id, events: [{ id, seq: 1 }] });
      expect(read.state.toRecord()).toEqual({ own: id, 'user:own': id, 'app:own': id });
      for (const request of [{ appName: id }, { appName: id, userId: id }]) {
        expect((await sessions.listSessions(request)).sessions).toMatchObject([{ id, appName: id, userId: id }]);
      }
      expect((await sessions.listEvents(key)).events).toEqual([stored]);
      expect(await sessions.getUserState(key)).toEqual({ own: id });
      await sessions.deleteSession(key);
      expect(await sessions.getSession(key)).toBeUndefined();
      expect((await load(sessions)).events).toHaveLength(1);
    });

    it('ids that look alike name different sessions', async () => {
      await withSession(store, async ({ sessions, raw }) => {
        for (const sessionId of LEGAL_IDS) await sessions.createSession({ ...KEY, sessionId, state: { sessionId } });
        for (const sessionId of LEGAL_IDS) {
          expect((await load(sessions, { ...KEY, sessionId })).state.get('sessionId')).toBe(sessionId);
        }
        expect((await raw()).sessions).toBe(LEGAL_IDS.length + 1);
        const { sessions: listed } = await sessions.listSessions({ ...USER, limit: 1000 });
        expect(listed.map(({ id }) => id).sort()).toEqual([...LEGAL_IDS, 's-1'].sort());
      });
    });
  });
}

/** Refusals happen above the stores, so one store is enough. */
export function refusedIds(store: TestStore): void {
  describe('ids', () => {
    const opened = sharedSession(store);

    it.each(ILLEGAL_IDS)('%s is no id', async (_name, value) => {
      const id = value as string;
      const blank = value === undefined || value === null || value === '' || value === ' ';
      await expectRefusals(await opened(), [
        refusal('appName', async (sessions) => sessions.createSession({ ...KEY, appName: id, sessionId: 'new' })),
        refusal('userId', async (sessions) => sessions.createSession({ ...KEY, userId: id, sessionId: 'new' })),
        refusal('sessionId', async (sessions) => sessions.getSession({ ...KEY, sessionId: id })),
        refusal('userId', async (sessions) => sessions.getSession({ ...KEY, userId: id })),
        refusal('sessionId', async (sessions) => sessions.deleteSession({ ...KEY, sessionId: id })),
        refusal('sessionId', async (sessions) => sessions.listEvents({ ...KEY, sessionId: id })),
        refusal('session.id', async (sessions) => sessions.appendEvent({ session: { ...SESSION, id }, event: {} })),
        refusal('appName', async (sessions) => sessions.listSessions({ appName: id })),
        refusal('userId', async (sessions) => sessions.getUserState({ ...USER, userId: id })),
        refusal('userId', async (sessions) => sessions.updateUserState({ ...USER, userId: id, stateDelta: { k: 2 } })),
        refusal('appName', async (sessions) => sessions.getAppState({ appName: id })),
        refusal('appName', async (sessions) => sessions.updateAppState({ appName: id, stateDelta: { k: 2 } })),
      ]);
      if (value !== undefined) {
        await expectRefusals(await opened(), [
          refusal('userId', async (sessions) => sessions.listSessions({ ...USER, userId: id })),
        ]);
      }
      if (blank) return;
      await expectRefusals(await opened(), [
        refusal('sessionId', async (sessions) => sessions.createSession({ ...KEY, sessionId: id })),
        refusal('sessionId', async (sessions) => sessions.getOrCreateSession({ ...KEY, sessionId: id })),
        refusal('$.id', async (sessions) => sessions.appendEvent({ session: SESSION, event: { id } })),
      ]);
    });
  });
}
