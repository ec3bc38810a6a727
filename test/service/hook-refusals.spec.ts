import { NotFoundException } from '@nestjs/common';
import {
  BudgetExceededError,
  InMemorySessionService,
  InvalidInputError,
  QuotaExceededError,
  SessionNotFoundError,
  SessionsError,
  StoreUnavailableError,
} from '../../src/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const LOG = { appName: 'audit', userId: 'ann', sessionId: 'log' };
const SAID = { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } };

/** What hooks throw: either they refuse, or they fail. */
describe('an error of a hook', () => {
  let sessions: InMemorySessionService;

  beforeEach(async () => {
    sessions = new InMemorySessionService({ usage: { budgets: [{ scope: 'user', maxTokens: 1 }] } });
    await sessions.createSession(KEY);
  });

  const append = (): Promise<unknown> => failureOf(sessions.appendEvent({ session: { ...KEY, id: 's' }, event: SAID }));

  it.each([
    ['an error of the service', new InvalidInputError('no cards', '$.content')],
    ['an exception of Nest', new NotFoundException('no such shop')],
    ['an error of its own', new Error('no')],
    ['an unavailable store', new StoreUnavailableError('The store of files is down.', false)],
  ])('that it makes is its refusal: %s', async (_what, refusal) => {
    const refuse = (): never => {
      throw refusal;
    };
    sessions.hooks.onBeforeAppend(refuse);
    sessions.hooks.onBeforeDelete(refuse);
    sessions.hooks.onBeforeErase(refuse);
    expect(await append()).toBe(refusal);
    expect(await failureOf(sessions.deleteSession(KEY))).toBe(refusal);
    expect(await failureOf(sessions.eraseUser(KEY))).toBe(refusal);
    expect(await sessions.getSession(KEY)).toMatchObject({ version: 0 });
  });

  it.each([
    ['a missing session', () => sessions.rewindSession({ ...LOG, toSeq: 0 })],
    [
      'an append to a missing session',
      () => new InMemorySessionService().appendEvent({ session: { ...LOG, id: 'log' }, event: SAID }),
    ],
    [
      'a value that is no JSON',
      () => sessions.updateUserState({ appName: 'audit', userId: 'ann', stateDelta: { bad: 5n } }),
    ],
    ['a misspelled field', () => sessions.getSession({ ...LOG, confg: {} } as never)],
    ['a session that is there already', () => sessions.createSession(KEY)],
    ['a wrong page', () => sessions.listEvents({ ...KEY, limit: -1 })],
  ])('of an operation that it calls is its fault: %s', async (_what, nested) => {
    const call = async (): Promise<void> => void (await nested());
    sessions.hooks.onBeforeAppend(call);
    sessions.hooks.onBeforeDelete(call);
    sessions.hooks.onBeforeErase(call);
    const failures = [
      ['onBeforeAppend', await append()],
      ['onBeforeDelete', await failureOf(sessions.deleteSession(KEY))],
      ['onBeforeErase', await failureOf(sessions.eraseUser({ appName: 'shop', userId: 'ann' }))],
    ] as const;
    for (const [registration, failure] of failures) {
      expect(failure).not.toBeInstanceOf(SessionsError);
      expect(String(failure)).toContain(`A hook of ${registration} let an error through`);
      expect((failure as Error).cause).toBeInstanceOf(SessionsError);
    }
    expect(await sessions.getSession(KEY)).toMatchObject({ version: 0 });
  });

  it('that names a session which is there is its fault, also with the id of the session that is written', async () => {
    sessions.hooks.onBeforeAppend(missing);
    sessions.hooks.onBeforeDelete(missing);
    expect(await append()).not.toBeInstanceOf(SessionsError);
    expect(await failureOf(sessions.deleteSession(KEY))).not.toBeInstanceOf(SessionsError);
  });

  it('of reading the session that is written is the answer if there is none', async () => {
    sessions.hooks.onBeforeAppend(async ({ key }) => void (await sessions.listEvents(key)));
    await sessions.deleteSession(KEY);
    expect(await append()).toMatchObject({ code: 'SESSION_NOT_FOUND', sessionId: 's' });
  });

  it('of a store that is down says that nothing was written, whatever became of the call', async () => {
    const nested = new StoreUnavailableError('The store is down.', true);
    nested.setEventIds(['audit-1']);
    const broken = new InMemorySessionService();
    broken.hooks.onBeforeAppend(() => {
      throw nested;
    });
    sessions.hooks.onBeforeAppend(
      async () => void (await broken.append({ session: { ...LOG, id: 'log' }, event: SAID })),
    );
    const failure = await failureOf(
      sessions.appendEvent({ session: { ...KEY, id: 's' }, event: { ...SAID, id: 'own-1' } }),
    );
    expect(failure).toMatchObject({ code: 'STORE_UNAVAILABLE', outcomeUnknown: false });
    expect((failure as StoreUnavailableError).eventId).not.toBe('audit-1');
  });

  it('of a used up budget is the refusal that it asked for', async () => {
    const usageMetadata = { totalTokenCount: 5 };
    await sessions.appendEvent({ session: { ...KEY, id: 's' }, event: { ...SAID, usageMetadata } });
    sessions.hooks.onBeforeAppend(async ({ key }) => sessions.checkBudget(key));
    expect(await append()).toBeInstanceOf(BudgetExceededError);
  });

  it('of a used up quota is the refusal that it asked for', async () => {
    const limited = new InMemorySessionService({ quotas: { user: { sessions: 1 } } });
    const session = await limited.createSession(KEY);
    limited.hooks.onBeforeAppend(async () => void (await limited.createSession({ ...KEY, sessionId: 'log' })));
    expect(await failureOf(limited.appendEvent({ session, event: SAID }))).toBeInstanceOf(QuotaExceededError);
  });

  it('that it catches and throws anew is its refusal again', async () => {
    sessions.hooks.onBeforeAppend(async () => {
      await sessions.rewindSession({ ...LOG, toSeq: 0 }).catch(() => {
        throw new InvalidInputError('nobody listens');
      });
    });
    expect(await append()).toMatchObject({ code: 'INVALID_INPUT', message: 'nobody listens' });
  });
});

function missing(): never {
  throw new SessionNotFoundError('s');
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}
