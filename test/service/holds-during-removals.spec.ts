import { SessionRetention, SessionService } from '../../src/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { ManualClock } from '../../src/testing/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { exportSessions, importSessions } from '../../src/transfer/index.js';
import { holding } from '../support/holding.js';
import { pausedAt } from '../support/paused-storage.js';
import { storesAboveThePort } from '../support/stores.js';

const ANN = { appName: 'shop', userId: 'ann' };
const KEY = { ...ANN, sessionId: 's' };
const SESSION = { ...ANN, id: 's' };
const HOLD = { labels: { hold: 'case-7' } };
const LABELLED = { author: 'system', actions: { metadataDelta: HOLD } };
const SAID = { author: 'user', content: { parts: [{ text: 'My secret' }] } };
const CALLED = {
  author: 'agent',
  content: { parts: [{ functionCall: { id: 'c', name: 'find', args: { q: 'secret' } } }] },
};

describe.each(storesAboveThePort)('a hold that comes while something is removed, on $name', ({ open }) => {
  let clock: ManualClock;
  let opened: OpenStorage;
  let sessions: SessionService;
  const services: SessionService[] = [];

  beforeEach(async () => {
    clock = new ManualClock(Date.UTC(2026, 0, 1));
    opened = await open({ clock });
    sessions = start();
  });

  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.finish()));
    await opened.destroy();
  });

  function start(storage: SessionStorage = opened.storage): SessionService {
    const service = new SessionService({ storage, clock });
    services.push(service);
    return service;
  }

  async function storeHold(): Promise<void> {
    new SessionRetention({ sessions, rules: [], hold: HOLD }).start();
    await sessions.whenIdle();
  }

  /** The storage of another process, in which somebody sets the label just before the first call of this method. */
  function labelledAt(name: string, label = async () => sessions.append({ session: SESSION, event: LABELLED })) {
    let isLabelled = false;
    return pausedAt(opened.storage, name, async () => {
      if (isLabelled) return;
      isLabelled = true;
      await label();
    });
  }

  const isKept = async (): Promise<boolean> => (await sessions.getSession(KEY))?.metadata.labels['hold'] === 'case-7';
  const text = async (): Promise<string> => JSON.stringify((await sessions.listEvents(KEY)).events);

  it('keeps a session from a deletion that has asked before', async () => {
    await storeHold();
    await sessions.createSession(KEY);
    const deletion = start(labelledAt('delete')).deleteSession(KEY);
    await expect(deletion).rejects.toMatchObject({ code: 'SESSION_HELD' });
    expect(await isKept()).toBe(true);
  });

  it('keeps a session whose deletion waits for a hook, also if all of it comes meanwhile', async () => {
    await sessions.createSession(KEY);
    const slow = start();
    slow.hooks.onBeforeDelete(async () => {
      await storeHold();
      await sessions.append({ session: SESSION, event: LABELLED });
    });
    await expect(slow.deleteSession(KEY)).rejects.toMatchObject({ code: 'SESSION_HELD' });
    expect(await isKept()).toBe(true);
  });

  it('lets a session be deleted to which others append something else meanwhile', async () => {
    await storeHold();
    await sessions.createSession(KEY);
    await start(labelledAt('delete', async () => sessions.append({ session: SESSION, event: SAID }))).deleteSession(
      KEY,
    );
    expect(await sessions.getSession(KEY)).toBeUndefined();
  });

  it('spares a session that begins with the label, under the id of one that is deleted', async () => {
    await storeHold();
    await sessions.createSession(KEY);
    const again = async () => {
      await sessions.deleteSession(KEY);
      return (await sessions.createSession({ ...KEY, metadata: HOLD })).events;
    };
    let isAgain = false;
    const other = pausedAt(opened.storage, 'delete', async () => {
      if (!isAgain) await again();
      isAgain = true;
    });
    await start(other).deleteSession(KEY);
    expect(await isKept()).toBe(true);
  });

  it('keeps an event from a redaction that has asked before', async () => {
    await storeHold();
    await sessions.createSession(KEY);
    await sessions.append({ session: SESSION, event: SAID });
    const redaction = start(labelledAt('rebuild')).redactEvent({ ...KEY, seq: 1, reason: 'asked' });
    await expect(redaction).rejects.toMatchObject({ code: 'SESSION_HELD' });
    expect(await text()).toContain('My secret');
  });

  it('lets an event be redacted while others append something else', async () => {
    await sessions.createSession(KEY);
    await sessions.append({ session: SESSION, event: SAID });
    const said = async () =>
      sessions.append({ session: SESSION, event: { ...SAID, content: { parts: [{ text: 'More' }] } } });
    await start(labelledAt('rebuild', said)).redactEvent({ ...KEY, seq: 1, reason: 'asked' });
    expect(await text()).not.toContain('My secret');
    expect(await text()).toContain('More');
  });

  it('keeps what events say from a run of retention that began before', async () => {
    await sessions.createSession(KEY);
    await sessions.append({ session: SESSION, event: CALLED });
    clock.advanceSeconds(8 * 86_400);
    const label = async () => {
      await storeHold();
      return sessions.append({ session: SESSION, event: LABELLED });
    };
    const rules = [{ kinds: ['toolCalls' as const], keep: '7d' }];
    await new SessionRetention({ sessions: start(labelledAt('rebuild', label)), rules }).apply();
    expect(await text()).toContain('secret');
  });

  it('keeps a session from an import that has asked before', async () => {
    await storeHold();
    await sessions.createSession(KEY);
    const copy = await collected(exportSessions(opened.storage));
    await sessions.deleteSession(KEY);
    clock.advanceSeconds(1);
    await sessions.createSession(KEY);
    const importing = importSessions(labelledAt('delete'), copy, { onConflict: 'replace' });
    await expect(importing).rejects.toMatchObject({ code: 'SESSION_HELD' });
    expect(await isKept()).toBe(true);
  });

  it('is refused when an import brings it while its user is erased, and again when that is repeated', async () => {
    await sessions.createSession({ ...KEY, metadata: HOLD });
    await sessions.append({ session: SESSION, event: SAID });
    const copy = await collected(exportSessions(opened.storage));
    await sessions.deleteSession(KEY);
    await storeHold();
    const { held, release } = holding();
    const { held: asked, release: hasAsked } = holding();
    const slow = pausedAt(opened.storage, 'transfer.eraseUser', async () => {
      hasAsked();
      await held;
    });
    const erasing = start(slow).eraseUser(ANN);
    await Promise.race([asked, erasing]);
    try {
      for (let count = 0; count < 2; count++) {
        await expect(importSessions(opened.storage, copy)).rejects.toMatchObject({ code: 'USER_BEING_ERASED' });
      }
    } finally {
      release();
    }
    expect(await erasing).toEqual({ sessions: 1 });
    expect(await importSessions(opened.storage, copy)).toMatchObject({ sessions: { created: 1 } });
  });
});

async function collected(lines: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const line of lines) found.push(line);
  return found;
}
