import { InMemorySessionService, InvalidInputError, SessionService } from '../../src/index.js';
import { DatabaseSessionService } from '../../src/typeorm.js';
import { methodsOf } from '../support/methods-of.js';

/** The methods without an argument, or with an optional one. */
const NOTHING_REQUIRED = new Set(['purgeExpired', 'whenIdle', 'finish', 'close', 'listApps']);
const REQUIRED = methodsOf(SessionService).filter((name) => !NOTHING_REQUIRED.has(name));

describe('the argument of an operation', () => {
  it.each(REQUIRED)('is required: %s', async (name) => {
    const sessions = new InMemorySessionService();
    const methods = sessions as unknown as Readonly<Record<string, (request: unknown) => unknown>>;
    for (const nothing of [undefined, null, 's-1']) {
      const call = async (): Promise<unknown> => outcomeOf(methods[name]?.(nothing));
      await expect(call()).rejects.toBeInstanceOf(InvalidInputError);
    }
    await sessions.close();
  });

  it('is a session of the service, not a copy, where only that one shall be deleted', async () => {
    const sessions = new InMemorySessionService();
    const loaded = await sessions.createSession({ appName: 'shop', userId: 'ann' });
    const key = { appName: 'shop', userId: 'ann', sessionId: loaded.id };
    for (const copy of [null, { ...loaded }, structuredClone({ id: loaded.id })]) {
      const deletion = sessions.deleteSession({ ...key, loaded: copy as never });
      await expect(deletion).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'loaded' });
    }
    expect(await sessions.getSession(key)).toBeDefined();
    await sessions.deleteSession({ ...key, loaded });
    expect(await sessions.getSession(key)).toBeUndefined();
    await sessions.close();
  });

  it('is the session with the ids of the request, where only that one shall be deleted', async () => {
    const sessions = new InMemorySessionService();
    const key = { appName: 'shop', userId: 'ann', sessionId: 's' };
    const loaded = await sessions.createSession(key);
    for (const other of [{ appName: 'bank' }, { userId: 'bob' }, { sessionId: 'S' }]) {
      await sessions.createSession({ ...key, ...other });
      const deletion = sessions.deleteSession({ ...key, ...other, loaded });
      await expect(deletion).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'loaded' });
    }
    await sessions.close();
  });

  it('names the session that was loaded, where only an unchanged one shall be deleted', async () => {
    const sessions = new InMemorySessionService();
    const key = { appName: 'shop', userId: 'ann', sessionId: 's' };
    const loaded = await sessions.createSession(key);
    for (const wrong of [{ ifUnchanged: true }, { loaded, ifUnchanged: 1 as never }]) {
      const deletion = sessions.deleteSession({ ...key, ...wrong });
      await expect(deletion).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'ifUnchanged' });
    }
    expect(await sessions.getSession(key)).toBeDefined();
    await sessions.close();
  });

  it('can be null if all of its properties are optional, and can be a class instance', async () => {
    const sessions = new InMemorySessionService();
    const session = await sessions.createSession({ appName: 'shop', userId: 'ann', state: { a: 1 } });
    session.state.a = 2;
    expect(await sessions.updateSession(session, null as never)).toMatchObject({ seq: 1 });
    expect(await sessions.purgeExpired(null as never)).toMatchObject({ sessions: 0 });
    class Config {
      numRecentEvents = 0;
    }
    const key = { appName: 'shop', userId: 'ann', sessionId: session.id };
    expect(await sessions.getSession({ ...key, config: new Config() })).toMatchObject({ events: [] });
    await sessions.close();
  });

  it('can have null for optional properties', async () => {
    const sessions = new InMemorySessionService();
    const user = { appName: 'shop', userId: 'ann' };
    for (const sessionId of ['a', 'b']) await sessions.createSession({ ...user, sessionId });
    const { nextCursor } = await sessions.listSessions({ ...user, limit: 1 });
    const rest = { ...user, cursor: nextCursor, page: null, offset: null };
    expect((await sessions.listSessions(rest as never)).sessions).toHaveLength(1);
    const rewind = { ...user, sessionId: 'a', toSeq: 0, invocationId: null };
    expect(await sessions.rewindSession(rewind as never)).toMatchObject({ version: 1 });
    expect(await sessions.purgeExpired({ batchSize: null, signal: null } as never)).toMatchObject({ sessions: 0 });
    await sessions.close();
  });

  it('must have a valid signal for a watch', async () => {
    const sessions = new InMemorySessionService();
    const { id: sessionId } = await sessions.createSession({ appName: 'shop', userId: 'ann' });
    const watch = sessions.watch({ appName: 'shop', userId: 'ann', sessionId, signal: {} as never });
    await expect(watch.next()).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'signal' });
    await sessions.close();
  });

  it('cannot have a transaction of the app without its DataSource', async () => {
    for (const [sessions, advice] of [
      [new InMemorySessionService(), /use a TypeORM store over the DataSource of the app/],
      [new DatabaseSessionService({ database: ':memory:' }), /give it `dataSource` instead of a url or a file/],
    ] as const) {
      const session = await sessions.createSession({ appName: 'shop', userId: 'ann' });
      const [event, transaction] = [{ author: 'user' }, { queryRunner: {} }];
      for (const appending of [
        sessions.appendEvent({ session, event, transaction }),
        sessions.appendEvents({ session, events: [event], transaction }),
      ]) {
        const refusal = await appending.catch((error: unknown) => error);
        expect(refusal).toMatchObject({ code: 'INVALID_INPUT', path: 'transaction' });
        expect((refusal as Error).message).toMatch(advice);
      }
      expect(session.version).toBe(0);
      await sessions.close();
    }
  });
});

/** A watch is refused when it is read. */
async function outcomeOf(returned: unknown): Promise<unknown> {
  return Symbol.asyncIterator in Object(returned) ? (returned as AsyncIterator<unknown>).next() : returned;
}
