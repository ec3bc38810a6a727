import type { TestStore } from '../../support/stores.js';
import { KEY, SESSION, USER, type Refusal, expectRefusals, load, sharedSession } from './harness.js';
import { ILLEGAL_KEYS, LEGAL_KEYS } from './tables/state-keys.js';

export function acceptedStateKeys(store: TestStore): void {
  describe('state keys', () => {
    const opened = sharedSession(store);

    it.each(LEGAL_KEYS)('%j is a key like any other', async (key) => {
      const { sessions } = await opened();
      const entry = (value: string): Record<string, unknown> => Object.fromEntries([[key, value]]);
      const session = await sessions.createSession({ ...USER, state: entry('created') });
      const again = { ...USER, sessionId: session.id };
      expect((await load(sessions, again)).state.get(key)).toBe('created');
      const stored = await sessions.appendEvent({
        session,
        event: { author: 'user', actions: { stateDelta: entry('appended') } },
      });
      expect(Object.entries(stored.actions.stateDelta)).toEqual([[key, 'appended']]);
      expect(session.state.get(key)).toBe('appended');
      session.state.set(key, 'saved');
      await sessions.updateSession(session);
      expect((await load(sessions, again)).state.get(key)).toBe('saved');
      await sessions.appendEvent({ session, event: { author: 'user', actions: { stateRemovals: [key] } } });
      expect((await load(sessions, again)).state.has(key)).toBe(false);
      expect(session.state.has(key)).toBe(false);
      const { changes } = await sessions.stateChanges({ ...again, key });
      expect(changes.map((change) => change.after)).toEqual(['appended', 'saved', undefined]);
      const { state, shared } = await sessions.stateAt({ ...again, seq: 2 });
      expect([...Object.entries(state), ...Object.entries(shared)]).toEqual([[key, 'saved']]);
    });
  });
}

/** Refusals happen above the stores, so one store is enough. */
export function refusedStateKeys(store: TestStore): void {
  describe('state keys', () => {
    const opened = sharedSession(store);

    it.each(ILLEGAL_KEYS)('%s is no key', async (_name, key, path) => {
      const delta = Object.fromEntries([
        ['ok', 1],
        [key, 1],
      ]);
      const refusal = (where: string, request: Refusal['request']): Refusal => ({
        code: 'INVALID_INPUT',
        path: `${where}${path}`,
        request,
      });
      await expectRefusals(await opened(), [
        refusal('$.state', async (sessions) => sessions.createSession({ ...KEY, sessionId: 'new', state: delta })),
        refusal('$.actions.stateDelta', async (sessions) =>
          sessions.appendEvent({ session: SESSION, event: { author: 'user', actions: { stateDelta: delta } } }),
        ),
        refusal('$.actions.stateRemovals', async (sessions) =>
          sessions.appendEvent({
            session: SESSION,
            event: { author: 'user', actions: { stateRemovals: ['ok', key] } },
          }),
        ),
        refusal('$.events[0].actions.stateDelta', async (sessions) =>
          sessions.appendEvents({ session: SESSION, events: [{ author: 'user', actions: { stateDelta: delta } }] }),
        ),
        refusal('$.stateDelta', async (sessions) => sessions.updateUserState({ ...USER, stateDelta: delta })),
        refusal('$.stateRemovals', async (sessions) => sessions.updateAppState({ ...USER, stateRemovals: [key] })),
      ]);
    });

    it('a key that is too long only with its prefix is refused, too', async () => {
      const stateDelta = { ['x'.repeat(508)]: 1 };
      await expectRefusals(await opened(), [
        { code: 'INVALID_INPUT', request: async (sessions) => sessions.updateUserState({ ...USER, stateDelta }) },
      ]);
      const { sessions } = await opened();
      expect(await sessions.updateAppState({ ...USER, stateDelta })).toMatchObject(stateDelta);
    });
  });
}
