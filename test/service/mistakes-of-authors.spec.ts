import { ConfigurationError, InMemorySessionService, SessionsError } from '../../src/index.js';
import { SummarizerSessionManager } from '../../src/summarizer/index.js';
import { DatabaseSessionService } from '../../src/typeorm.js';

/** What the app's own functions return wrongly is no error of the caller: transports answer 500. */
describe('mistakes of authors', () => {
  const session = { appName: 'shop', userId: 'ann', sessionId: 's' };

  it.each([' ', 5, 'a\n', 'x'.repeat(300)])('newId that returns %j makes nothing', async (id) => {
    const sessions = new InMemorySessionService({ newId: () => id as string });
    const made = await sessions.createSession(session);
    await expect(sessions.createSession({ appName: 'shop', userId: 'ann' })).rejects.toThrow(ConfigurationError);
    const appending = sessions.appendEvent({ session: made, event: { author: 'agent' } });
    await expect(appending).rejects.toThrow(/newId returned .*; it must be an id of at most 191 bytes/);
    expect(await sessions.getSession(session)).toMatchObject({ version: 0 });
  });

  it.each([undefined, null, {}, [{ scope: 'usr' }], Number.NaN])(
    'budgets that are %p refuse no turn',
    async (budgets) => {
      const sessions = new InMemorySessionService({ usage: { budgets: () => budgets as never } });
      const checking = sessions.checkBudget(session);
      await expect(checking).rejects.toThrow(ConfigurationError);
      await expect(checking).rejects.toThrow(/usage\.budgets must return a list of/);
    },
  );

  const stores = {
    memory: (clock: { now: () => number }) => new InMemorySessionService({ clock }),
    SQLite: (clock: { now: () => number }) => new DatabaseSessionService({ database: ':memory:', clock }),
  };
  const times = [Number.NaN, 'x', undefined, 1.5, Infinity];
  it.each(Object.entries(stores).flatMap(([store, open]) => times.map((time) => ({ store, open, time }))))(
    'a clock that shows $time makes nothing in $store',
    async ({ open, time }) => {
      let shown: unknown = 1_800_000_000_000;
      const sessions = open({ now: () => shown as number });
      const made = await sessions.createSession(session);
      shown = time;
      await expect(sessions.createSession({ ...session, sessionId: 't' })).rejects.toThrow(ConfigurationError);
      await expect(sessions.appendEvent({ session: made, event: { author: 'user' } })).rejects.toThrow(
        /clock\.now\(\) returned .*; it must be a whole number of epoch milliseconds/,
      );
      shown = 1_800_000_000_001;
      expect(await sessions.getSession({ ...session, sessionId: 't' })).toBeUndefined();
      expect(await sessions.getSession(session)).toMatchObject({ version: 0, createTime: 1_800_000_000_000 });
      await sessions.close();
    },
  );

  it.each([
    [
      'with an empty key of state',
      { author: 'user', actions: { stateDelta: { '': 1 } } },
      /state key must not be empty/,
    ],
    ['that is too large', { author: 'user', note: 'y'.repeat(2_000_000) }, /1048576/],
    ['that is a text', 'x', /an event must be an object/],
  ])('a hook that returns an event %s is named', async (_name, event, message) => {
    const sessions = new InMemorySessionService();
    sessions.hooks.onBeforeAppend(() => event as never);
    const made = await sessions.createSession(session);
    const error: unknown = await sessions
      .appendEvent({ session: made, event: { author: 'user' } })
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toMatch(/A hook of onBeforeAppend returned an event that is refused/);
    expect(String(error)).toMatch(message);
    expect((error as TypeError).cause).toBeInstanceOf(SessionsError);
    expect(await sessions.getSession(session)).toMatchObject({ version: 0 });
  });

  it.each([
    ['nothing', () => undefined],
    ['a copy', ({ event }: { event: object }) => ({ ...event, customMetadata: { by: 'hook' } })],
  ])('the caller answers for its own event if a hook returns %s', async (_name, hook) => {
    const sessions = new InMemorySessionService();
    const made = await sessions.createSession(session);
    sessions.hooks.onBeforeAppend(hook);
    const event = { author: 'user', actions: { stateDelta: { '': 1 } } };
    await expect(sessions.appendEvent({ session: made, event })).rejects.toBeInstanceOf(SessionsError);
  });

  it.each(['onBeforeAppend', 'onAfterAppend', 'onBeforeDelete', 'onBeforeErase'] as const)(
    '%s takes functions alone',
    (registration) => {
      const { hooks } = new InMemorySessionService();
      for (const hook of ['x', undefined, null, {}]) {
        expect(() => hooks[registration](hook as never)).toThrow(ConfigurationError);
        expect(() => hooks[registration](hook as never)).toThrow(`hooks.${registration} got`);
      }
    },
  );

  it.each(['onBeforeSummary', 'onAfterSummary', 'onDue', 'onStored'] as const)(
    '%s takes functions alone',
    (registration) => {
      const { hooks } = new SummarizerSessionManager({ sessions: new InMemorySessionService() });
      expect(() => hooks[registration]('x' as never)).toThrow(/hooks\.on\w+ got 'x'; it must be a function/);
    },
  );

  it.each([
    [{ maxTrys: 2 }, 'maxTrys is no option; there are name, apps, from, handler'],
    [{ form: 'start' }, 'form is no option; did you mean from?'],
  ])('a consumer with %j does not start', async (wrong, message) => {
    const sessions = new InMemorySessionService();
    const consuming = sessions.consume({ name: 'mail', handler: () => undefined, ...wrong });
    await expect(consuming).rejects.toThrow(ConfigurationError);
    await expect(consuming).rejects.toThrow(message);
    expect(await sessions.consumers.list()).toEqual([]);
  });
});
