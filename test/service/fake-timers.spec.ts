import { InMemorySessionService } from '../../src/index.js';
import { DatabaseSessionService } from '../../src/typeorm.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const HELLO = { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } };

/** The drivers of servers wait by timers of their own. */
const services = [
  ['memory', () => new InMemorySessionService()],
  ['SQLite', () => new DatabaseSessionService({ database: ':memory:' })],
] as const;

/** Tests of apps stop the time, and go on with it by themselves. */
describe.each(services)('while time stands still, in %s', (_name, newService) => {
  afterEach(() => void jest.useRealTimers());

  it('sessions are written, read and watched', async () => {
    const sessions = newService();
    jest.useFakeTimers();
    const session = await sessions.createSession(KEY);
    const watched = sessions.watch(KEY)[Symbol.asyncIterator]();
    const next = watched.next();
    await sessions.appendEvent({ session, event: HELLO });
    await sessions.withTurn(KEY, () => sessions.appendEvent({ session, event: HELLO }));
    await sessions.change(KEY, ({ version }) => [{ author: 'agent', actions: { stateDelta: { version } } }]);
    expect((await next).value).toMatchObject({ seq: 1 });
    expect((await sessions.getSession(KEY))?.state.get('version')).toBe(2);
    await watched.return?.();
    await sessions.close();
  });
});
