import { SessionService } from '../../src/index.js';
import type { SessionStorage } from '../../src/sessions/storage/session-storage.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };

type OpenableStorage = SessionStorage & { open(): Promise<void> };

/** Uses a store as an app does: writes, reads, and hears of an event by a watch, which has connections of its own. */
export async function useStore(
  storage: OpenableStorage,
  meanwhile: () => Promise<void> = async () => undefined,
): Promise<void> {
  const sessions = new SessionService({ storage, watchPollMs: 20 });
  try {
    await storage.open();
    await sessions.deleteSession(KEY);
    const session = await sessions.createSession(KEY);
    const watch = sessions.watch({ ...KEY, afterSeq: 0 });
    const heard = watch.next();
    await sessions.appendEvent({ session, event: { id: 'e-1', author: 'user' } });
    expect((await heard).value).toMatchObject({ id: 'e-1' });
    expect((await sessions.getSession(KEY))?.events).toMatchObject([{ id: 'e-1' }]);
    await meanwhile();
    await watch.return?.(undefined);
  } finally {
    await sessions.close();
  }
}

/** Why a store could not be opened. */
export async function openingError(storage: OpenableStorage): Promise<Error> {
  try {
    await storage.open();
  } catch (error) {
    return error as Error;
  } finally {
    await storage.close();
  }
  throw new Error('It was opened');
}
