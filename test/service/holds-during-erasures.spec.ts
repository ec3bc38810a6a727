import { SessionRetention, SessionService, UserBeingErasedError } from '../../src/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { ManualClock } from '../../src/testing/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { holding } from '../support/holding.js';
import { withNotedCalls } from '../support/noted-calls.js';
import { pausedAfter, pausedAt } from '../support/paused-storage.js';
import { storesAboveThePort } from '../support/stores.js';

const ANN = { appName: 'shop', userId: 'ann' };
const KEY = { ...ANN, sessionId: 's' };
const SESSION = { ...ANN, id: 's' };
const HOLD = { labels: { hold: 'case-7' } };
const LABELLED = { id: 'e-1', author: 'system', actions: { metadataDelta: HOLD } };

describe.each(storesAboveThePort)('a hold that comes while its user is erased, on $name', ({ open }) => {
  let clock: ManualClock;
  let opened: OpenStorage;
  const services: SessionService[] = [];
  const errors: unknown[] = [];

  beforeEach(async () => {
    clock = new ManualClock(Date.UTC(2026, 0, 1));
    opened = await open({ clock });
    errors.length = 0;
  });

  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.finish()));
    await opened.destroy();
  });

  function start(storage: SessionStorage = opened.storage): SessionService {
    const service = new SessionService({ storage, clock, onBackgroundError: (error) => void errors.push(error) });
    services.push(service);
    return service;
  }

  async function storeHold(sessions = start()): Promise<void> {
    new SessionRetention({ sessions, rules: [], hold: HOLD }).start();
    await sessions.whenIdle();
  }

  /** Erases the user in another process, which has asked for holds, and is about to remove the sessions. */
  async function beginErasure(): Promise<{ finish: () => Promise<unknown> }> {
    const { held, release } = holding();
    const { held: asked, release: hasAsked } = holding();
    const slow = pausedAt(opened.storage, 'transfer.eraseUser', async () => {
      hasAsked();
      await held;
    });
    const erasing = start(slow).eraseUser(ANN);
    await Promise.race([asked, erasing]);
    return {
      finish: async () => {
        release();
        return erasing;
      },
    };
  }

  it('is refused when a session gets its label, and again when that is repeated', async () => {
    const sessions = start();
    await storeHold(sessions);
    await sessions.createSession(KEY);
    const erasure = await beginErasure();
    for (let count = 0; count < 2; count++) {
      const refused = sessions.append({ session: SESSION, event: LABELLED });
      await expect(refused).rejects.toMatchObject({ code: 'USER_BEING_ERASED', status: 409, userId: 'ann' });
    }
    expect(await erasure.finish()).toEqual({ sessions: 1 });
    await expect(sessions.append({ session: SESSION, event: LABELLED })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
  });

  it('is refused when a session begins with its label', async () => {
    const sessions = start();
    await storeHold(sessions);
    const erasure = await beginErasure();
    await expect(sessions.createSession({ ...KEY, metadata: HOLD })).rejects.toThrow(UserBeingErasedError);
    await erasure.finish();
    await sessions.createSession({ ...KEY, metadata: HOLD });
    await expect(start().eraseUser(ANN)).rejects.toMatchObject({ code: 'SESSION_HELD' });
  });

  it('is not acknowledged if the whole erasure comes between its write and the answer', async () => {
    await storeHold();
    await start().createSession(KEY);
    let acknowledged: Promise<unknown> = Promise.resolve();
    const { held, release } = holding();
    const { held: written, release: isWritten } = holding();
    const slow = pausedAfter(opened.storage, 'append', async () => {
      isWritten();
      await held;
    });
    const unaware = pausedAt(opened.storage, 'transfer.eraseUser', async () => {
      const holdingAppend = start(slow).append({ session: SESSION, event: LABELLED });
      await written;
      acknowledged = holdingAppend.then(() => 'acknowledged').catch((error: unknown) => error);
    });
    expect(await start(unaware).eraseUser(ANN)).toEqual({ sessions: 1 });
    release();
    expect(await acknowledged).toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  it('is refused when it is stored for all sessions, and accepted when the erasure is over', async () => {
    const sessions = start();
    await sessions.createSession({ ...KEY, metadata: HOLD });
    const erasure = await beginErasure();
    for (let count = 0; count < 2; count++) {
      await storeHold();
      expect(errors.splice(0)).toMatchObject([{ code: 'USER_BEING_ERASED' }]);
    }
    expect(await erasure.finish()).toEqual({ sessions: 1 });
    await storeHold();
    expect(errors).toEqual([]);
    await sessions.createSession({ ...KEY, metadata: HOLD });
    await expect(sessions.eraseUser(ANN)).rejects.toMatchObject({ code: 'SESSION_HELD' });
  });

  it('is stored without an error if the erasure began later, so that it has seen the hold', async () => {
    await storeHold();
    clock.advanceSeconds(1);
    const erasure = await beginErasure();
    await storeHold();
    expect(errors).toEqual([]);
    await erasure.finish();
  });

  it('is refused for no other user, and for nobody when an erasure was refused or its process died', async () => {
    const sessions = start();
    await storeHold(sessions);
    await sessions.createSession({ ...KEY, userId: 'bob' });
    const erasure = await beginErasure();
    const bob = { appName: 'shop', userId: 'bob', id: 's' };
    expect(await sessions.append({ session: bob, event: LABELLED })).toMatchObject({ duplicate: false });
    await expect(sessions.eraseUser({ ...ANN, userId: 'bob' })).rejects.toMatchObject({ code: 'SESSION_HELD' });
    const again = { ...LABELLED, id: 'e-2' };
    expect(await sessions.append({ session: bob, event: again })).toMatchObject({ duplicate: false });
    // Nobody renews the note, as after a crash.
    clock.advanceSeconds(61);
    await sessions.createSession({ ...KEY, sessionId: 'other', metadata: HOLD });
    await erasure.finish();
  });

  it('costs writes nothing that set no label, and one request where no hold names it', async () => {
    const calls: string[] = [];
    const sessions = start(withNotedCalls(opened.storage, calls));
    const session = await sessions.createSession({ ...KEY, metadata: { title: 'A', tags: ['a'] } });
    await sessions.appendEvent({ session, event: { author: 'user', actions: { metadataDelta: { status: 'open' } } } });
    expect(calls).toEqual(['create', 'append']);
    await sessions.appendEvent({ session, event: LABELLED });
    expect(calls).toEqual(['create', 'append', 'append', 'entries.find']);
  });
});
