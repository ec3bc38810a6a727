import { SessionService } from '../../../src/sessions/session.service.js';
import { InMemorySessionStorage } from '../../../src/sessions/storage/in-memory/in-memory-session-storage.js';
import type { SessionStorage } from '../../../src/sessions/storage/session-storage.js';

/**
 * Watches the stores of its arguments, `memory` or a file of SQLite, and says what happens. Nothing but a watch keeps this process
 * alive: if one does not, the process ends before it has said everything, and if one does for too long, it does not end.
 */
const places = process.argv.slice(3);

const KEY = { appName: 'shop', userId: 'ann' };
const SOON_MS = 100;

/** A timer that does not keep the process alive. */
function soon(work: () => unknown): void {
  setTimeout(() => void work(), SOON_MS).unref();
}

async function storageAt(place: string): Promise<SessionStorage> {
  if (place === 'memory') return new InMemorySessionStorage();
  const { TypeOrmSessionStorage } = await import('../../../src/sessions/storage/typeorm/typeorm-session-storage.js');
  return new TypeOrmSessionStorage({ database: place });
}

async function watchIn(place: string): Promise<void> {
  const sessions = new SessionService({ storage: await storageAt(place), watchPollMs: 20 });
  const watching = async () => {
    const session = await sessions.createSession(KEY);
    return { session, watch: sessions.watch({ ...KEY, sessionId: session.id }) };
  };
  const event = { author: 'user' };

  const waiting = await watching();
  soon(() => sessions.appendEvent({ session: waiting.session, event }));
  for await (const { seq } of waiting.watch) {
    console.log(`event ${seq}`);
    break;
  }

  const left = await watching();
  soon(() => left.watch.return?.());
  for await (const { seq } of left.watch) console.log(seq);
  console.log('the reader left');

  // Has an event that nobody asks for.
  await sessions.appendEvent({ session: (await watching()).session, event });

  const ended = await watching();
  soon(() => sessions.finish());
  for await (const { seq } of ended.watch) console.log(seq);
  console.log('the service finished');
}

void (async () => {
  for (const place of places) await watchIn(place);
})();
