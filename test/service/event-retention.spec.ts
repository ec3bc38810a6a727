import {
  type EventInput,
  type RetentionReport,
  type RetentionRule,
  type RetentionSettings,
  SessionRetention,
  SessionService,
  encryptedStorage,
} from '../../src/index.js';
import { ManualClock } from '../../src/testing/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { KEY_A, KEY_B } from '../encryption/support.js';
import { storesAboveThePort } from '../support/stores.js';

const ANN = { appName: 'shop', userId: 'ann' };
const KEY = { ...ANN, sessionId: 's' };
const DAY_SECONDS = 86_400;
const WEEK: RetentionRule = { kinds: ['toolCalls', 'toolResults'], keep: '7d' };
const BOTH: RetentionSettings = { rules: [WEEK, { kinds: ['reasoning'], keep: '30d' }] };

const says = (text: string): EventInput => ({ author: 'user', content: { role: 'user', parts: [{ text }] } });
const calls = (secret: string): EventInput => ({
  author: 'agent',
  content: {
    role: 'model',
    parts: [
      { text: `thinks ${secret}`, thought: true },
      { text: `says ${secret}` },
      { functionCall: { id: 'c', name: 'find', args: { q: secret } } },
    ],
  },
  customMetadata: { note: `notes ${secret}` },
  usageMetadata: { totalTokenCount: 7 },
});
const answers = (secret: string): EventInput => ({
  author: 'agent',
  content: {
    role: 'user',
    parts: [{ functionResponse: { id: 'c', name: 'find', response: { found: `results ${secret}` } } }],
  },
  customMetadata: { raw: `raw ${secret}` },
});

describe.each(storesAboveThePort)('the retention of what events say on $name', ({ open }) => {
  let clock: ManualClock;
  let opened: OpenStorage;
  let sessions: SessionService;

  beforeEach(async () => {
    clock = new ManualClock(Date.UTC(2026, 0, 1));
    opened = await open({ clock });
    sessions = new SessionService({ storage: opened.storage, clock });
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await sessions.finish();
    await opened.destroy();
  });

  const retain = (settings: RetentionSettings, on = sessions): SessionRetention =>
    new SessionRetention({ sessions: on, ...settings });
  const days = (count: number): void => clock.advanceSeconds(count * DAY_SECONDS);
  const append = (event: EventInput, id = 's', on = sessions) => on.append({ session: { ...ANN, id }, event });
  const log = async (on = sessions) => (await on.listEvents({ ...KEY, limit: 1_000 })).events;
  const reads = (): jest.SpyInstance => jest.spyOn(opened.storage, 'read');

  it('takes what is due by kind, part by part, and keeps places, counters, tokens and the time of the session', async () => {
    await sessions.createSession(KEY);
    for (const event of [says('hello'), calls('canary'), answers('canary')]) await append(event);
    const before = await sessions.getSession(KEY);
    days(7);
    const dry = await retain(BOTH).apply({ dryRun: true });
    expect(countsOf(dry)).toEqual([
      [2, 0, { toolCalls: { due: 1, removed: 0 }, toolResults: { due: 1, removed: 0 } }],
      [0, 0, {}],
    ]);
    expect((await opened.raw()).text).toContain('results canary');
    expect(countsOf(await retain(BOTH).apply())[0]).toEqual([
      2,
      2,
      { toolCalls: { due: 1, removed: 1 }, toolResults: { due: 1, removed: 1 } },
    ]);
    const [first, called, answered] = await log();
    expect(first?.redaction).toBeUndefined();
    expect(called).toMatchObject({
      seq: 2,
      content: {
        parts: [
          { text: 'thinks canary', thought: true },
          { text: 'says canary' },
          { functionCall: { id: 'c', name: 'find', args: {} } },
        ],
      },
      customMetadata: { note: 'notes canary' },
      usageMetadata: { totalTokenCount: 7 },
      redaction: { kinds: ['toolCalls'], reason: 'retention' },
    });
    expect(answered).toMatchObject({
      content: { parts: [{ functionResponse: { id: 'c', name: 'find', response: {} } }] },
    });
    expect(answered?.redaction?.kinds).toBeUndefined();
    expect((await opened.raw()).text).not.toMatch(/results canary|raw canary/);
    const after = await sessions.getSession(KEY);
    expect([after?.version, after?.lastUpdateTime, after?.conversationCount]).toEqual([
      before?.version,
      before?.lastUpdateTime,
      before?.conversationCount,
    ]);
    expect(countsOf(await retain(BOTH).apply({ dryRun: true })).map(([due]) => due)).toEqual([0, 0]);
    days(23);
    expect(countsOf(await retain(BOTH).apply())[1]).toEqual([1, 1, { reasoning: { due: 1, removed: 1 } }]);
    expect((await log())[1]?.redaction?.kinds).toEqual(['reasoning', 'toolCalls']);
    const rest = retain({ rules: [{ kinds: ['messages'], keep: '30d' }] });
    expect(countsOf(await rest.apply())[0]).toEqual([2, 2, { messages: { due: 2, removed: 2 } }]);
    expect((await opened.raw()).text).not.toContain('canary');
    expect((await log())[1]?.redaction).not.toHaveProperty('kinds');
  });

  it('reads no log again in which nothing can be due, and finds what comes late', async () => {
    await sessions.createSession(KEY);
    await append(answers('early'));
    days(7);
    expect(countsOf(await retain(BOTH).apply())[0]?.[1]).toBe(1);
    await append({ ...answers('late'), timestamp: Date.UTC(2020, 0, 1) });
    const read = reads();
    for (let hour = 0; hour < 3; hour++) await retain(BOTH).apply();
    expect(read).not.toHaveBeenCalled();
    days(7);
    expect(countsOf(await retain(BOTH).apply())[0]?.[1]).toBe(1);
    // The page, and again while nobody else replaces it.
    expect(read).toHaveBeenCalledTimes(2);
    read.mockRestore();
    expect((await opened.raw()).text).not.toContain('late');
  });

  it('goes on where a run was stopped', async () => {
    await sessions.createSession(KEY);
    for (let from = 0; from < 300; from += 100) {
      const events = Array.from({ length: 100 }, (_, index) => answers(`r${from + index}`));
      await sessions.appendEvents({ session: { ...ANN, id: 's' }, events });
    }
    days(7);
    const rebuild = opened.storage.rebuild.bind(opened.storage);
    jest.spyOn(opened.storage, 'rebuild').mockImplementationOnce(rebuild).mockRejectedValueOnce(new Error('killed'));
    await expect(retain(BOTH).apply()).rejects.toThrow('killed');
    jest.restoreAllMocks();
    const read = reads();
    expect(countsOf(await retain(BOTH).apply())[0]?.slice(0, 2)).toEqual([172, 172]);
    expect(Math.min(...read.mock.calls.map(([{ window }]) => window?.ranges?.[0]?.from ?? 0))).toBe(129);
    read.mockRestore();
    expect(countsOf(await retain(BOTH).apply({ dryRun: true }))[0]?.[0]).toBe(0);
  });

  it('does harmlessly at the same time what others do, also to the same event', async () => {
    await sessions.createSession(KEY);
    for (let count = 0; count < 5; count++) await append(calls(`canary-${count}`));
    days(30);
    const other = new SessionService({ storage: opened.storage, clock });
    const reasoning = retain({ rules: [{ kinds: ['reasoning'], keep: '1d' }] }, other);
    const redact = { ...KEY, seq: 3, reason: 'asked' };
    await Promise.all([retain({ rules: [WEEK] }).apply(), reasoning.apply(), sessions.redactEvent(redact)]);
    const events = (await log()).slice(0, 5);
    const whole = events.splice(2, 1);
    expect(events.map(({ redaction }) => redaction?.kinds)).toEqual(
      Array.from({ length: 4 }, () => ['reasoning', 'toolCalls']),
    );
    expect(JSON.stringify(whole)).not.toContain('canary');
    expect(JSON.stringify(events)).not.toContain('thinks');
  });

  it('leaves a held session alone, and follows app, label and order of the rules', async () => {
    const labels = { plan: 'trial' };
    await sessions.createSession({ ...KEY, metadata: { labels } });
    await sessions.createSession({ ...ANN, sessionId: 'held', metadata: { labels: { ...labels, hold: 'yes' } } });
    await sessions.createSession({ ...ANN, sessionId: 'paid' });
    for (const id of ['s', 'held', 'paid']) await append(says(`text of ${id}`), id);
    const kinds = ['messages'] as const;
    const policy = retain({
      rules: [{ kinds, labels, keep: '1d' }, { kinds, app: 'demo', keep: '1h' }, { kinds, keep: '3d' }, { keep: '9d' }],
      hold: { labels: { hold: 'yes' } },
    });
    days(1);
    const report = await policy.apply();
    expect(report.rules.map(({ removed }) => removed)).toEqual([1, 0, 0, 0]);
    expect(report.held).toBe(1);
    days(3);
    expect((await policy.apply()).rules.map(({ removed }) => removed)).toEqual([0, 0, 1, 0]);
    expect((await opened.raw()).text).toContain('text of held');
    expect((await opened.raw()).text).not.toMatch(/text of (s|paid)/);
  });

  it('knows a retry of what it took, brings nothing back, and leaves what says nothing', async () => {
    await sessions.createSession(KEY);
    const event = { ...calls('canary'), id: 'e-1', timestamp: clock.now() };
    await append(event);
    await append({ author: 'agent', actions: { stateDelta: { step: 1 } } });
    days(30);
    await retain({ rules: [WEEK, { kinds: ['messages'], keep: '7d' }] }).apply();
    const [stored, changing] = await log();
    expect(stored?.redaction?.kinds).toEqual(['messages', 'toolCalls']);
    expect(changing?.redaction).toBeUndefined();
    for (const sent of [event, stored ?? event]) expect((await append(sent)).duplicate).toBe(true);
    await expect(append({ ...event, author: 'other' })).rejects.toMatchObject({ code: 'EVENT_CONFLICT' });
    expect((await opened.raw()).text).not.toContain('says canary');
    const { event: whole, duplicate } = await sessions.redactEvent({ ...KEY, seq: 1, reason: 'asked' });
    expect([duplicate, whole.redaction?.kinds]).toEqual([false, undefined]);
    expect(await sessions.redactEvent({ ...KEY, seq: 1, reason: 'asked' })).toMatchObject({ duplicate: true });
  });

  it('works on encrypted texts', async () => {
    const sealed = new SessionService({ storage: encryptedStorage(opened.storage, { keys: KEY_A }, clock), clock });
    await sealed.createSession(KEY);
    await append(answers('canary'), 's', sealed);
    days(7);
    expect(countsOf(await retain(BOTH, sealed).apply())[0]?.[1]).toBe(1);
    expect(JSON.stringify(await log(sealed))).not.toContain('canary');
    expect(countsOf(await retain(BOTH, sealed).apply({ dryRun: true }))[0]?.[0]).toBe(0);
    await sealed.finish();
  });

  it('goes on with the others where texts cannot be decrypted, and says of how many sessions', async () => {
    const withKeys = (keys: string): SessionService =>
      new SessionService({ storage: encryptedStorage(opened.storage, { keys }, clock), clock });
    const lost = withKeys(KEY_B);
    const sealed = withKeys(KEY_A);
    // Of ann, not even the title can be read.
    for (const sessionId of ['s', 's-2'])
      await lost.createSession({ ...ANN, sessionId, metadata: { title: 'canary' } });
    await append(answers('canary'), 's', lost);
    for (const user of ['bob', 'zoe']) {
      await sealed.createSession({ ...KEY, userId: user });
      await sealed.append({ session: { ...KEY, userId: user, id: 's' }, event: answers('canary') });
    }
    // Of bob, one event cannot.
    await overwriteFirst(sealed, { ...KEY, userId: 'bob' });
    days(7);
    const before = (await opened.raw()).text;
    const onError = jest.fn();
    const dry = await retain(BOTH, sealed).apply({ dryRun: true, onError });
    expect([dry.unreadable, countsOf(dry)[0]?.slice(0, 2)]).toEqual([3, [1, 0]]);
    expect(onError).toHaveBeenCalledTimes(1);
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ code: 'ENCRYPTION_KEY_UNKNOWN' }));
    expect((await opened.raw()).text).toBe(before);
    expect((await retain(BOTH, sealed).apply()).rules[0]).toMatchObject({ due: 1, removed: 1 });
    const whole = await retain({ rules: [{ keep: '7d' }] }, sealed).apply();
    expect(whole).toMatchObject({ unreadable: 2, rules: [{ due: 2, removed: 2 }] });
    expect(await lost.getSession(KEY)).toMatchObject({ metadata: { title: 'canary' } });
    for (const service of [lost, sealed]) await service.finish();
  });

  /** As somebody with access to the store. */
  async function overwriteFirst(on: SessionService, key: typeof KEY): Promise<void> {
    const stored = await opened.storage.read({ key, window: { afterSeq: 0, limit: 1, keep: 'oldest' } });
    const [event] = stored?.events ?? [];
    if (!stored || !event) throw new Error('The event is there');
    const { incarnation, lastSeq } = stored.record;
    const payload = (event.payload ?? '').replace(/^e1\.[\w-]+\./, 'e1.other.');
    const events = [{ seq: event.seq, id: event.id, payload }];
    expect(await opened.storage.rebuild({ key, incarnation, lastSeq, events })).toBe(true);
    await expect(on.listEvents(key)).rejects.toMatchObject({ code: 'ENCRYPTION_KEY_UNKNOWN' });
  }
});

function countsOf({ rules }: RetentionReport): [number, number, object | undefined][] {
  return rules.map(({ due, removed, kinds }) => [due, removed, kinds]);
}
