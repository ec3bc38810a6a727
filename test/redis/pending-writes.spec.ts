import { SessionService } from '../../src/index.js';
import type { RedisSessionStorage } from '../../src/redis.js';
import { type RedisBench, describeRedis } from '../support/redis-servers.js';
import { APPLY_APP_WRITES, CLEAR_PENDING, observedRedis } from '../support/observed-redis.js';

const USER = { appName: 'shop', userId: 'ann' };
const DEATHS = Array.from({ length: 20 }, (_, index) => index + 1);

/** When a writer crashes after the script of its session has run. */
const MOMENTS = {
  'before the app is written': { before: APPLY_APP_WRITES.sha },
  'after the app is written': { after: APPLY_APP_WRITES.sha },
  'after pending writes are cleared': { after: CLEAR_PENDING.sha },
};

/** The next operation. */
const NEXT_OPERATIONS: Record<string, (sessions: SessionService, id: string) => Promise<unknown>> = {
  'a read': (sessions, sessionId) => sessions.getSession({ ...USER, sessionId }),
  'an append': (sessions, id) => sessions.appendEvent({ session: { ...USER, id }, event: { author: 'agent' } }),
  'a list of the user': (sessions) => sessions.listSessions(USER),
  'a list of the app': (sessions) => sessions.listSessions({ appName: 'shop' }),
  'a delete': (sessions, sessionId) => sessions.deleteSession({ ...USER, sessionId }),
};

/** A store whose process crashes before or after a script, after `crash` was called. Then it sends nothing any more. */
function crashingStore(bench: RedisBench, { before, after }: { before?: string; after?: string }) {
  let isCrashing = false;
  let isDead = false;
  const dieAt = (moment: string | undefined) => (sha: string) => {
    isDead ||= isCrashing && sha === moment;
    if (isDead) throw new Error('The process crashed');
  };
  const client = observedRedis(bench.client(), { beforeScript: dieAt(before), afterScript: dieAt(after) });
  const storage: RedisSessionStorage = bench.storage({ client });
  return {
    sessions: new SessionService({ storage }),
    crash: () => (isCrashing = true),
    recover: () => (isCrashing = isDead = false),
  };
}

async function isPending(bench: RedisBench): Promise<boolean> {
  return (await bench.keys()).some(([key]) => key.includes(':pending:'));
}

describeRedis('Writes to an app of a $name store', ['redis-cluster'], (bench) => {
  describe.each(Object.entries(MOMENTS))('by a writer that crashes %s', (_moment, script) => {
    it.each(Object.entries(NEXT_OPERATIONS))('are applied by %s', async (_name, runNext) => {
      const writer = crashingStore(bench(), script);
      const others = new SessionService({ storage: bench().storage() });
      for (const death of DEATHS) {
        const id = `s-${death}`;
        writer.recover();
        await writer.sessions.createSession({ ...USER, sessionId: id, state: { 'app:gone': 1 } });
        writer.crash();
        const event = {
          id: 'e',
          author: 'user',
          actions: { stateDelta: { 'app:k': death }, stateRemovals: ['app:gone'] },
        };
        await expect(writer.sessions.appendEvent({ session: { ...USER, id }, event })).rejects.toMatchObject({
          code: 'STORE_UNAVAILABLE',
          outcomeUnknown: true,
        });
        await runNext(others, id);
        expect(await others.getAppState({ appName: 'shop' })).toEqual({ k: death });
        expect(await isPending(bench())).toBe(false);
      }
    });
  });

  it.each(['a read', 'a list of the user', 'a list of the app'])(
    'do not make the outcome of %s unknown when it cannot apply them',
    async (reading) => {
      const writer = crashingStore(bench(), { before: APPLY_APP_WRITES.sha });
      const reader = crashingStore(bench(), { before: APPLY_APP_WRITES.sha });
      const session = { ...USER, id: 's-1' };
      await writer.sessions.createSession({ ...USER, sessionId: session.id });
      writer.crash();
      const event = { author: 'user', actions: { stateDelta: { 'app:k': 1 } } };
      await expect(writer.sessions.appendEvent({ session, event })).rejects.toMatchObject({ outcomeUnknown: true });
      reader.crash();
      await expect(NEXT_OPERATIONS[reading]?.(reader.sessions, session.id)).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        outcomeUnknown: false,
      });
      reader.recover();
      await NEXT_OPERATIONS[reading]?.(reader.sessions, session.id);
      expect(await isPending(bench())).toBe(false);
    },
  );

  it('are applied once by a repeated append of the same event', async () => {
    const writer = crashingStore(bench(), { after: APPLY_APP_WRITES.sha });
    const others = new SessionService({ storage: bench().storage() });
    const session = { ...USER, id: 's-1' };
    await others.createSession({ ...USER, sessionId: 's-1' });
    await others.createSession({ ...USER, sessionId: 's-2' });
    writer.crash();
    const event = { id: 'e', author: 'user', actions: { stateDelta: { 'app:k': 'first' } } };
    await expect(writer.sessions.appendEvent({ session, event })).rejects.toMatchObject({ outcomeUnknown: true });
    // The applied write is still pending. Now another session writes the same key.
    const second = { author: 'user', actions: { stateDelta: { 'app:k': 'second' } } };
    await others.appendEvent({ session: { ...USER, id: 's-2' }, event: second });
    expect(await others.append({ session, event })).toMatchObject({ duplicate: true });
    expect(await others.getAppState({ appName: 'shop' })).toEqual({ k: 'second' });
    expect(await isPending(bench())).toBe(false);
  });

  it('register a new session although its creator crashed', async () => {
    const writer = crashingStore(bench(), { before: APPLY_APP_WRITES.sha });
    const others = new SessionService({ storage: bench().storage() });
    writer.crash();
    const created = writer.sessions.createSession({ ...USER, sessionId: 's-1', state: { 'app:k': 1 } });
    await expect(created).rejects.toMatchObject({ outcomeUnknown: true });
    expect((await others.getSession({ ...USER, sessionId: 's-1' }))?.state.get('app:k')).toBe(1);
    expect((await others.listSessions({ appName: 'shop' })).sessions).toHaveLength(1);
  });

  it('are all applied when many sessions write concurrently', async () => {
    const sessions = new SessionService({ storage: bench().storage() });
    const ids = Array.from({ length: 10 }, (_, index) => `s-${index}`);
    for (const sessionId of ids) await sessions.createSession({ ...USER, userId: `of ${sessionId}`, sessionId });
    await Promise.all(
      ids.flatMap((id) =>
        Array.from({ length: 20 }, (_, index) =>
          sessions.appendEvent({
            session: { ...USER, userId: `of ${id}`, id },
            event: {
              author: 'user',
              actions: { stateDelta: { [`app:${id}-${index}`]: index, [`user:${index}`]: index } },
            },
          }),
        ),
      ),
    );
    expect(Object.keys(await sessions.getAppState({ appName: 'shop' }))).toHaveLength(200);
    expect(await isPending(bench())).toBe(false);
  });

  it('remove users without sessions from the registry', async () => {
    const sessions = new SessionService({ storage: bench().storage() });
    for (const userId of ['ann', 'bob']) await sessions.createSession({ appName: 'shop', userId, sessionId: 's' });
    await sessions.createSession({ appName: 'shop', userId: 'bob', sessionId: 's-2' });
    for (const userId of ['ann', 'bob']) await sessions.deleteSession({ appName: 'shop', userId, sessionId: 's' });
    const users = (await bench().keys()).find(([key]) => key.endsWith(':users'));
    expect(await users?.[1].zrange(users[0], 0, -1)).toEqual(['bob']);
    expect((await sessions.listSessions({ appName: 'shop' })).sessions.map(({ userId }) => userId)).toEqual(['bob']);
  });
});
