import {
  InMemorySessionService,
  SessionHeldError,
  SessionRetention,
  type RetentionSettings,
  encryptedStorage,
  SessionService,
} from '../../src/index.js';
import { ManualClock } from '../../src/testing/index.js';
import { eraseUser, exportSessions, importSessions } from '../../src/transfer/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { KEY_A, KEY_B } from '../encryption/support.js';
import { storesAboveThePort } from '../support/stores.js';

const ANN = { appName: 'shop', userId: 'ann' };
const DAY_SECONDS = 86_400;
const EVENT = { author: 'user', content: { parts: [{ text: 'Hello' }] } };

describe.each(storesAboveThePort)('the retention of sessions on $name', ({ open }) => {
  let clock: ManualClock;
  let opened: OpenStorage;
  let sessions: SessionService;

  beforeEach(async () => {
    clock = new ManualClock(Date.UTC(2026, 0, 1));
    opened = await open({ clock });
    sessions = new SessionService({ storage: opened.storage, clock });
  });

  afterEach(async () => {
    await sessions.finish();
    await opened.destroy();
  });

  const serviceBy = (keys: string): SessionService =>
    new SessionService({ storage: encryptedStorage(opened.storage, { keys, metadata: 'sealed' }), clock });

  const retain = (settings: RetentionSettings): SessionRetention => new SessionRetention({ sessions, ...settings });

  async function create(sessionId: string, labels: Record<string, string> = {}, appName = 'shop'): Promise<void> {
    await sessions.createSession({ ...ANN, appName, sessionId, metadata: { labels } });
  }

  async function left(appName = 'shop'): Promise<string[]> {
    const { sessions: found } = await sessions.listSessions({ appName, orderBy: 'createTime', order: 'asc' });
    return found.map(({ id }) => id).toSorted();
  }

  it('follows the first rule that fits, by label and app, since the last event', async () => {
    const trial = { labels: { plan: 'trial' }, keep: '7d' };
    const retention = retain({ rules: [trial, { app: 'demo', keep: '12h' }, { keep: '30d' }] });
    await create('trial', { plan: 'trial' });
    await create('written', { plan: 'trial' });
    await create('paid', { plan: 'paid' });
    await create('shown', {}, 'demo');
    clock.advanceSeconds(4 * DAY_SECONDS);
    await sessions.appendEvent({ session: { ...ANN, id: 'written' }, event: EVENT });
    clock.advanceSeconds(3 * DAY_SECONDS);
    expect(countsIn((await retention.apply()).rules)).toEqual([
      [1, 1],
      [1, 1],
      [0, 0],
    ]);
    expect([await left(), await left('demo')]).toEqual([['paid', 'written'], []]);
    clock.advanceSeconds(30 * DAY_SECONDS);
    expect(countsIn((await retention.apply()).rules)).toEqual([
      [1, 1],
      [0, 0],
      [1, 1],
    ]);
    expect(await left()).toEqual([]);
  });

  it('counts in a dry run, removes nothing, and proves that nothing is left after a run', async () => {
    const retention = retain({ rules: [{ keep: '1d' }] });
    for (let number = 0; number < 130; number++) await create(`s-${number}`);
    clock.advanceSeconds(DAY_SECONDS);
    await create('new');
    const dry = await retention.apply({ dryRun: true });
    expect(dry).toMatchObject({ dryRun: true, checkedAt: clock.now(), held: 0 });
    expect(dry.rules).toEqual([{ rule: { keep: '1d' }, due: 130, removed: 0, oldest: Date.UTC(2026, 0, 1) }]);
    expect(await left()).toHaveLength(100);
    expect(countsIn((await retention.apply()).rules)).toEqual([[130, 130]]);
    expect(countsIn((await retention.apply({ dryRun: true })).rules)).toEqual([[0, 0]]);
    expect(await left()).toEqual(['new']);
  });

  it('keeps what is held, however old, and refuses to delete it or to erase its user', async () => {
    const retention = retain({
      rules: [{ labels: { plan: 'trial' }, keep: '1d' }, { keep: '1d' }],
      hold: { labels: { hold: 'case-7' } },
    });
    retention.start();
    await create('held', { hold: 'case-7', plan: 'trial' });
    await create('free', { hold: 'case-8' });
    clock.advanceSeconds(2 * DAY_SECONDS);
    expect(await retention.apply()).toMatchObject({ held: 1, rules: [{ removed: 0 }, { removed: 1 }] });
    await expect(sessions.deleteSession({ ...ANN, sessionId: 'held' })).rejects.toBeInstanceOf(SessionHeldError);
    await expect(sessions.eraseUser(ANN)).rejects.toMatchObject({ code: 'SESSION_HELD', status: 409 });
    expect(await left()).toEqual(['held']);
    const free = { metadataDelta: { labels: { hold: null } } };
    await sessions.appendEvent({ session: { ...ANN, id: 'held' }, event: { author: 'system', actions: free } });
    await sessions.eraseUser(ANN);
    expect(await left()).toEqual([]);
  });

  it('keeps what is held as it is, in processes without the policy, too', async () => {
    const retention = retain({ rules: [], hold: { labels: { hold: 'case-7', by: 'court' } } });
    await create('held', { hold: 'case-7', by: 'court' });
    await sessions.appendEvent({ session: { ...ANN, id: 'held' }, event: EVENT });
    const copy = new InMemorySessionService();
    await copy.createSession({ ...ANN, sessionId: 'held' });
    const copied: string[] = [];
    for await (const line of exportSessions(copy)) copied.push(line);
    await copy.close();
    retention.start();
    await sessions.whenIdle();
    const before = (await opened.raw()).text;
    const others = new SessionService({ storage: opened.storage, clock });
    const held = { ...ANN, sessionId: 'held' };
    const kinds = new SessionRetention({
      sessions: others,
      rules: [{ kinds: ['messages'], keep: '1d' }, { keep: '1d' }],
    });
    for (const on of [sessions, others]) {
      const calls = [
        on.redactEvent({ ...held, seq: 1, reason: 'asked' }),
        on.deleteSession(held),
        on.eraseUser(ANN),
        eraseUser(opened.storage, ANN),
        importSessions(on, copied, { onConflict: 'replace' }),
        importSessions(on, copied, { onConflict: 'replace', dryRun: true }),
        importSessions(opened.storage, copied, { onConflict: 'replace' }),
      ];
      for (const call of await Promise.allSettled(calls))
        expect(call).toMatchObject({ status: 'rejected', reason: { code: 'SESSION_HELD', sessionId: 'held' } });
    }
    clock.advanceSeconds(9 * DAY_SECONDS);
    expect(await kinds.apply()).toMatchObject({ held: 1, rules: [{ due: 0 }, { due: 0 }] });
    expect((await opened.raw()).text).toBe(before);
    expect(await importSessions(others, copied, { onConflict: 'skip' })).toMatchObject({
      conflicts: [{ sessionId: 'held' }],
    });

    await retention.release();
    expect(await others.redactEvent({ ...held, seq: 1, reason: 'asked' })).toMatchObject({ duplicate: false });
    await importSessions(sessions, copied, { onConflict: 'replace' });
    await sessions.deleteSession(held);
    await others.finish();
  });

  it('keeps what is held where labels are encrypted, and the user of a session whose labels cannot be read', async () => {
    const [sealed, other] = [serviceBy(KEY_A), serviceBy(KEY_B)];
    new SessionRetention({ sessions: sealed, rules: [], hold: { labels: { hold: 'case-7' } } }).start();
    for (const [by, userId, hold] of [
      [sealed, 'ann', 'case-7'],
      [sealed, 'bob', 'case-8'],
      [other, 'eve', 'case-8'],
    ] as const)
      await by.createSession({ ...ANN, userId, sessionId: userId, metadata: { labels: { hold } } });
    const erase = async (userId: string): Promise<unknown> => sealed.eraseUser({ ...ANN, userId });
    await expect(erase('ann')).rejects.toMatchObject({ code: 'SESSION_HELD', sessionId: 'ann' });
    await expect(erase('eve')).rejects.toMatchObject({ code: 'ENCRYPTION_KEY_UNKNOWN' });
    expect(await erase('bob')).toEqual({ sessions: 1 });
    expect(await left()).toEqual(['ann', 'eve']);
    for (const service of [sealed, other]) await service.finish();
  });

  it('follows rules with labels where those are encrypted', async () => {
    const sealed = serviceBy(KEY_A);
    for (const plan of ['trial', 'paid']) {
      await sealed.createSession({ ...ANN, sessionId: plan, metadata: { labels: { plan } } });
    }
    clock.advanceSeconds(DAY_SECONDS);
    const rules = [{ labels: { plan: 'trial' }, keep: '1d' }];
    const { rules: counts } = await new SessionRetention({ sessions: sealed, rules }).apply();
    expect(countsIn(counts)).toEqual([[1, 1]]);
    expect(await left()).toEqual(['paid']);
    await sealed.finish();
  });

  it('has the holds of all policies, each once', async () => {
    const first = retain({ rules: [], hold: { labels: { hold: 'a' } } });
    const second = retain({ rules: [], hold: { labels: { hold: 'b' } } });
    for (const policy of [first, second, first]) policy.start();
    await sessions.whenIdle();
    for (const hold of ['a', 'b']) await create(hold, { hold });
    const others = new SessionService({ storage: opened.storage, clock });
    const remove = (sessionId: string): Promise<void> => others.deleteSession({ ...ANN, sessionId });
    for (const id of ['a', 'b']) await expect(remove(id)).rejects.toBeInstanceOf(SessionHeldError);
    await first.release();
    await remove('a');
    await expect(remove('b')).rejects.toBeInstanceOf(SessionHeldError);
    await second.release();
    await remove('b');
    await others.finish();
  });

  it('leaves a session to which somebody writes meanwhile', async () => {
    const retention = retain({ rules: [{ keep: '1d' }] });
    await create('s');
    clock.advanceSeconds(DAY_SECONDS);
    const forget = sessions.hooks.onBeforeDelete(async () => {
      await sessions.appendEvent({ session: { ...ANN, id: 's' }, event: EVENT });
    });
    expect(countsIn((await retention.apply()).rules)).toEqual([[1, 0]]);
    forget();
    expect(await left()).toEqual(['s']);
  });
});

describe('the options of a retention', () => {
  it.each([
    [{ rules: [{ kep: '7d' }] }, 'kep is not known; did you mean keep?'],
    [{ rules: [{ keep: '7 days' }] }, 'keep has h, d, w or y'],
    [{ rules: [{ keep: '0d' }] }, 'retention'],
    [{ rules: [{ keep: '1d', labels: {} }] }, 'retention'],
    [{ rules: [{ keep: '1d', kinds: ['toolResult'] }] }, 'toolResult is no kind; did you mean toolResults?'],
    [{ rules: [{ keep: '1d', kinds: ['tools'] }] }, 'tools is no kind'],
    [{ rules: [{ keep: '1d', kinds: [] }] }, 'kinds are of messages, reasoning'],
    [{ rules: [{ keep: '1d', kind: ['files'] }] }, 'kind is not known; did you mean kinds?'],
    [{ rules: [], holds: {} }, 'holds is no option; did you mean hold?'],
    [{ rules: {} }, 'retention'],
  ])('refuse %j', (settings, message) => {
    const sessions = { sessions: {} } as never;
    expect(() => new SessionRetention(Object.assign(sessions, settings))).toThrow(message);
  });

  it('refuse a hold where sessions expire by themselves', async () => {
    const sessions = new InMemorySessionService({ ttl: { enabled: true, sessionSeconds: 100 } });
    const settings = { sessions, rules: [], hold: { labels: { hold: 'yes' } } };
    expect(() => new SessionRetention(settings)).toThrow('cannot keep sessions that expire');
    await sessions.close();
  });
});

function countsIn(rules: readonly { readonly due: number; readonly removed: number }[]): number[][] {
  return rules.map(({ due, removed }) => [due, removed]);
}
