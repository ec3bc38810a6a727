import type { SessionsError } from '../../sessions/domain/errors/errors.js';
import { topic } from '../contract-runner.js';
import { KEY, REFERENCE, type ServiceFixture, sessionWith, createSummaryEvent, turns, userSays } from './support.js';

async function errorOf(operation: Promise<unknown>): Promise<SessionsError> {
  return operation.then(
    () => {
      throw new Error('The operation was not refused');
    },
    (error: unknown) => error as SessionsError,
  );
}

export const errors = topic<ServiceFixture>('errors', (test) => {
  test('every error has a name, a stable code and a status', async ({ open }) => {
    const { sessions } = await open({ limits: { maxDeltaKeys: 1 } });
    const event = userSays('one', { id: 'e1' });
    const session = await sessionWith(sessions, [event]);
    const refusals = [
      sessions.createSession(KEY),
      sessions.appendEvent({ session, event: { ...event, author: 'agent' } }),
      sessions.appendEvent({ session, event: userSays('late'), expectedVersion: 0 }),
      sessions.appendEvent({ session: { ...REFERENCE, id: 'unknown' }, event }),
      sessions.appendEvent({ session, event: { author: 'agent', id: '\n' } }),
      sessions.appendEvent({ session, event: { author: 'agent', actions: { stateDelta: { a: 1, b: 1 } } } }),
    ];
    const seen = [];
    for (const refusal of refusals) {
      const { name, code, status } = await errorOf(refusal);
      seen.push([name, code, status]);
    }
    expect(seen).toEqual([
      ['SessionExistsError', 'SESSION_EXISTS', 409],
      ['EventConflictError', 'EVENT_CONFLICT', 409],
      ['StaleSessionError', 'STALE_SESSION', 409],
      ['SessionNotFoundError', 'SESSION_NOT_FOUND', 404],
      ['InvalidInputError', 'INVALID_INPUT', 400],
      ['LimitExceededError', 'LIMIT_EXCEEDED', 413],
    ]);
  });

  test('no error message contains event or state content', async ({ open }) => {
    const { sessions } = await open({ limits: { maxEventBytes: 500 } });
    const session = await sessionWith(sessions, [userSays('canary', { id: 'e1' })]);
    const secret = { text: 'canary', list: ['canary', NaN] };
    const refusals = [
      sessions.appendEvent({ session, event: userSays('canary, too', { id: 'e1' }) }),
      sessions.appendEvent({ session, event: userSays('canary'), expectedVersion: 0 }),
      sessions.appendEvent({ session, event: userSays('canary'.repeat(100)) }),
      sessions.appendEvent({ session, event: userSays('canary', { customMetadata: secret }) }),
      sessions.appendEvent({ session, event: userSays('canary', { actions: { stateDelta: { k: secret } } }) }),
      sessions.appendEvent({ session: { ...REFERENCE, id: 'unknown' }, event: userSays('canary') }),
      sessions.createSession({ ...KEY, state: { k: 'canary' } }),
      sessions.updateUserState({ ...KEY, stateDelta: { k: secret } }),
      sessions.appendEvent({ session, event: createSummaryEvent(1, 99, 'canary') }),
      sessions.listSessions({ ...KEY, cursor: 'canary' }),
    ];
    for (const refusal of refusals) {
      const error = await errorOf(refusal);
      expect(error.code).toBeDefined();
      expect(`${error.message} ${JSON.stringify(error)}`).not.toContain('canary');
    }
  });

  test('an error has the path of the invalid input', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, turns('u'));
    const error = await errorOf(
      sessions.appendEvent({ session, event: { author: 'agent', customMetadata: { 'a b': [{}, { deep: NaN }] } } }),
    );
    expect(error).toMatchObject({ path: '$.customMetadata["a b"][1].deep' });
    expect(error.message).toContain('$.customMetadata["a b"][1].deep');
  });

  test('the error of a stale writer has both versions', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, turns('u', 'a', 'u'));
    const error = await errorOf(sessions.appendEvent({ session, event: userSays('late'), expectedVersion: 1 }));
    expect(error).toMatchObject({ expectedVersion: 1, currentVersion: 3 });
  });
});
