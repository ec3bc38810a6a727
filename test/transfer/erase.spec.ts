import { SessionService } from '../../src/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { agendaNameOf } from '../../src/sessions/domain/background/agenda-names.js';
import { claimed, dispatchTo } from '../../src/testing/storage-contract/consumer-support.js';
import { ComponentSession } from '../../src/components/index.js';
import { ManualClock } from '../../src/testing/index.js';
import { eraseUser, exportUser, findErasure, findUser } from '../../src/transfer/index.js';
import { firstStore, storesAboveThePort } from '../support/stores.js';
import { text, withoutTransfer } from './support.js';

const APP = 'shop';
/** Of the user, and of others with names that begin or end the same. */
const ERASED = 'eva{*}|ü';
const OTHERS = ['eva{*}|ü2', 'eva{*}|', 'bob'];
const DAY_SECONDS = 86_400;

describe.each(storesAboveThePort)('erasing a user of $name', ({ open }) => {
  it('leaves nothing of the user in any table or key, and everything of others', async () => {
    const clock = new ManualClock();
    const { storage, raw, destroy } = await open({ clock });
    try {
      for (const userId of OTHERS) await fill(storage, clock, userId);
      const before = await raw();
      await fill(storage, clock, ERASED);
      const filled = (await raw()).text;
      for (const secret of ['said', 'partly', 'summed', 'own', 'shared', 'failed']) {
        expect([secret, filled.includes(secretOf(ERASED, secret))]).toEqual([secret, true]);
      }
      expect(namesIn(filled)).not.toEqual([]);
      expect(await componentSessions(storage)).toHaveLength(3 * (OTHERS.length + 1));

      const sessions = new SessionService({ storage, clock });
      const user = { appName: APP, userId: ERASED };
      const found = await findUser(storage, user);
      expect(Object.entries(found).filter(([, count]) => count === 0)).toEqual([]);
      expect(await sessions.eraseUser({ ...user, reason: 'ticket 12' })).toEqual({ sessions: 4 });
      expect(await findUser(storage, user)).toEqual({ sessions: 0, state: 0, usage: 0, components: 0, work: 0 });
      const note = { at: Math.floor(clock.now()), reason: 'ticket 12', sessions: 4 };
      expect(await findErasure(storage, user)).toEqual(note);
      for (const userId of OTHERS) {
        expect(await findErasure(storage, { appName: APP, userId })).toBeUndefined();
        expect((await findUser(storage, { appName: APP, userId })).sessions).toBe(3);
      }

      const { text: after, ...counts } = await raw();
      expect(
        after
          .split(secretOf(ERASED, ''))
          .slice(1)
          .map((rest) => rest.slice(0, 20)),
      ).toEqual([]);
      expect(namesIn(after)).toEqual([]);
      const kept = await componentSessions(storage);
      expect(kept.map((id) => String((JSON.parse(id) as unknown[])[1])).toSorted()).toEqual(
        OTHERS.flatMap((userId) => [userId, userId, userId]).toSorted(),
      );
      expect(counts).toEqual({ sessions: before.sessions, events: before.events, stateEntries: before.stateEntries });
      for (const userId of OTHERS) {
        const { sessions: left } = await sessions.listSessions({ appName: APP, userId });
        expect(left).toHaveLength(3);
        expect(await sessions.getUserState({ appName: APP, userId })).toEqual({ note: secretOf(userId, 'shared') });
        expect((await sessions.getUsage({ appName: APP, userId })).total.totalTokens).toBe(21);
      }
      expect(await eraseUser(storage, { ...user, reason: 'again' })).toEqual({ sessions: 0 });
      expect(await findErasure(storage, user)).toMatchObject({ reason: 'again', sessions: 4 });
      expect((await sessions.createSession(keyOf(ERASED, 's-0'))).state.toRecord()).toEqual({});
    } finally {
      await destroy();
    }
  });
});

describe.each(firstStore)('erasing a user', ({ open }) => {
  it('follows an export of the same user', async () => {
    const clock = new ManualClock();
    const { storage, destroy } = await open({ clock });
    try {
      for (const userId of [ERASED, ...OTHERS]) await fill(storage, clock, userId);
      let exported = '';
      for await (const line of exportUser(storage, { appName: APP, userId: ERASED })) exported += line;
      for (const secret of ['said', 'summed', 'own', 'shared', 'titled'])
        expect(exported).toContain(secretOf(ERASED, secret));
      for (const userId of OTHERS) expect(exported).not.toContain(secretOf(userId, ''));
    } finally {
      await destroy();
    }
  });

  it('keeps no note without a reason, and refuses one that no store could keep', async () => {
    const { storage, destroy } = await open({ clock: new ManualClock() });
    const user = { appName: APP, userId: ERASED };
    await eraseUser(storage, user);
    expect(await findErasure(storage, user)).toBeUndefined();
    for (const reason of ['', 'x'.repeat(501), 'half \uD83D', 7 as never]) {
      await expect(eraseUser(storage, { ...user, reason })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        path: 'reason',
      });
    }
    await destroy();
  });

  it('is refused by a store that cannot do it', async () => {
    const { storage, destroy } = await open({ clock: new ManualClock() });
    const own = withoutTransfer(storage);
    await expect(eraseUser(own, { appName: APP, userId: ERASED })).rejects.toMatchObject({
      code: 'UNSUPPORTED_BY_STORE',
    });
    await destroy();
  });
});

function keyOf(userId: string, sessionId: string) {
  return { appName: APP, userId, sessionId };
}

function secretOf(userId: string, what: string): string {
  return `<${OTHERS.indexOf(userId)}:${what}`;
}

/** The places where the user's id stands, as it is or as keys have it, but not those of users with longer names. */
function namesIn(stored: string): string[] {
  const plain = /eva\{\*\}\|ü(?!2)/g;
  const encoded = /eva%7B%2A%7D%7C%C3%BC(?!2)/g;
  return [...(stored.match(plain) ?? []), ...(stored.match(encoded) ?? [])];
}

function componentSessions(storage: SessionStorage): Promise<string[]> {
  return componentsOf(storage).listSessionKeys();
}

function componentsOf({ components: store }: SessionStorage, ttlMs?: number): ComponentSession {
  if (!store) throw new Error('no components');
  return new ComponentSession({ store, ttlMs });
}

/** Three sessions, one that has expired, and all that may exist beside them. */
async function fill(storage: SessionStorage, clock: ManualClock, userId: string): Promise<void> {
  const user = { appName: APP, userId };
  const secret = (what: string): string => secretOf(userId, what);
  const short = new SessionService({ storage, clock, ttl: { enabled: true, sessionSeconds: DAY_SECONDS } });
  if (userId === ERASED) {
    const expiring = await short.createSession(keyOf(userId, 'gone'));
    await short.appendEvent({ session: expiring, event: { author: 'user', content: text(secret('said')) } });
    await componentsOf(storage, DAY_SECONDS * 1_000).saveList(keyOf(userId, 'gone'), 'notes', [secret('planned')]);
    clock.advanceSeconds(DAY_SECONDS + 1);
  }
  const sessions = new SessionService({ storage, clock });
  await sessions.updateUserState({ ...user, stateDelta: { note: secret('shared') } });
  for (const sessionId of ['s-0', 's-1', 's-2']) {
    const key = keyOf(userId, sessionId);
    const metadata = { title: secret('titled'), tags: ['vip'], labels: { team: 'blue' } };
    await componentsOf(storage).save(key, 'plan', { text: secret('planned') });
    const session = await sessions.createSession({ ...key, state: { own: secret('own') }, metadata });
    const usageMetadata = { totalTokenCount: 7 };
    await sessions.appendEvent({
      session,
      event: { id: 'e-1', author: 'user', content: text(secret('said')), usageMetadata },
    });
    const compaction = {
      fromSeq: 1,
      toSeq: 1,
      model: 'm',
      promptVersion: 1,
      originalEventCount: 1,
      compressedEventCount: 1,
    };
    const summary = { id: 'summary:1', author: 'system', content: text(secret('summed')), actions: { compaction } };
    await sessions.appendEvent({ session, event: summary as never });
    const record = (await storage.read({ key }))?.record;
    if (!record) throw new Error('no session');
    const { incarnation } = record;
    await storage.saveCheckpoint({
      key,
      incarnation,
      seq: 256,
      text: JSON.stringify({ state: { own: secret('own') } }),
    });
    await storage.agenda.put(agendaNameOf(key), 1_000);
    await storage.agenda.put(`${agendaNameOf(key)}\u001F${incarnation}\u001F2`, 1_000);
    const turn = await sessions.beginTurn({ ...key, ttlMs: 60_000, holder: 'me' });
    const partial = {
      key,
      incarnation,
      turnToken: turn.token,
      index: 1,
      messageId: 'm-1',
      content: secret('partly'),
      ttlMs: 60_000,
    };
    expect(await storage.savePartial(partial)).toMatchObject({ kind: 'saved' });
  }
  // Work that waits, and a dead letter.
  for (const name of ['first', 'second']) await storage.consumers.register(name, '{}');
  await dispatchTo(storage, ['first', 'second'], { count: 3 });
  const claims = await claimed(storage, 'first', `claim of ${OTHERS.indexOf(userId)}`, 100);
  const entry = claims.find(({ key }) => key.userId === userId);
  if (!entry) throw new Error('no work');
  const letter = { seq: 1, tries: 3, problem: secret('failed') };
  await storage.consumers.note(entry, { seq: 1, tries: 0, goesOn: true, dueInMs: 0, letter });
}
