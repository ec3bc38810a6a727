import { SessionService } from '../../src/index.js';
import { testStores } from '../support/stores.js';

const USER = { appName: 'shop', userId: 'ann' };

/** More than any store does before others have their turn, unless it never lets them. */
const MOST = 10_000;

/** A loop that awaits one operation after the other. */
describe.each(testStores)('a loop of operations on $name', ({ open }) => {
  it.each([
    [
      'appends',
      (sessions: SessionService) =>
        sessions.append({
          session: { ...USER, id: 's' },
          event: { author: 'agent', actions: { stateDelta: { a: 1 } } },
        }),
    ],
    ['reads', (sessions: SessionService) => sessions.getSession({ ...USER, sessionId: 's' })],
  ])('of %s lets timers and signals in', async (_what, operation) => {
    const { storage, destroy } = await open({});
    const sessions = new SessionService({ storage });
    await sessions.createSession({ ...USER, sessionId: 's' });
    const timer = { isOver: false };
    setTimeout(() => (timer.isOver = true), 1);
    for (let count = 0; !timer.isOver && count < MOST; count++) await operation(sessions);
    expect(timer.isOver).toBe(true);
    await sessions.whenIdle();
    await destroy();
  });
});
