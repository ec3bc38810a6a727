import { SessionService } from '../../src/index.js';
import type { SessionStorage } from '../../src/sessions/storage/session-storage.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };

type OpenableStorage = SessionStorage & { open(): Promise<void> };

/** Uses a store as an app does: writes, reads, and receives an event with a watch, which has its own connection. */
export async function useStore(
  storage: OpenableStorage,
  whileOpen: () => Promise<void> = async () => undefined,
): Promise<void> {
  const sessions = new SessionService({ storage, watchPollMs: 20 });
  try {
    await storage.open();
    await sessions.deleteSession(KEY);
    const session = await sessions.createSession(KEY);
    const watch = sessions.watch({ ...KEY, afterSeq: 0 });
    const watched = watch.next();
    await sessions.appendEvent({ session, event: { id: 'e-1', author: 'user' } });
    expect((await watched).value).toMatchObject({ id: 'e-1' });
    expect((await sessions.getSession(KEY))?.events).toMatchObject([{ id: 'e-1' }]);
    await whileOpen();
    await watch.return?.(undefined);
  } finally {
    await sessions.close();
  }
}

/** The error of opening a store. */
export async function openingError(storage: OpenableStorage): Promise<Error> {
  try {
    await storage.open();
  } catch (error) {
    return error as Error;
  } finally {
    await storage.close();
  }
  throw new Error('The store was opened');
}
