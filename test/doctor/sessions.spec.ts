import { type EventInput, SessionService } from '../../src/index.js';
import { type Finding, checkStore, diagnose } from '../../src/doctor/index.js';
import { DEFAULT_LIMITS } from '../../src/config/session-settings.js';
import { randomId } from '../../src/sessions/domain/values/ids.js';
import { submitEvent } from '../../src/sessions/domain/write/submitted-event.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { NEVER } from '../../src/sessions/domain/values/expiry.js';
import { NO_COUNTS } from '../../src/sessions/domain/stored/counters.js';
import type { Commit, CommitEvent, SessionStorage } from '../../src/storage.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { until } from '../support/until.js';
import { storeOfEachKind } from '../support/stores.js';

const ANN = { appName: 'shop', userId: 'ann' };
const FOREVER = { ttlMs: NEVER, renewBelowMs: 0 };
const LIFETIMES = { session: FOREVER, user: FOREVER, app: FOREVER };

const found = async (storage: SessionStorage, options: object = {}): Promise<Finding[]> =>
  (await diagnose({ storage, ...options })).findings.slice();

const clock = new ManualClock();

function commitEvent(input: EventInput): CommitEvent {
  const submitted = submitEvent(input, { limits: DEFAULT_LIMITS, clock, newId: randomId });
  const { event, anchor, group, payload } = submitted;
  return { id: event.id, anchor, group, payload, timestamp: event.timestamp };
}

/** A commit past all checks: what a bug, or a hand at the database, would leave behind. */
function commitOf(sessionId: string, changes: Partial<Commit>): Commit {
  const events = [commitEvent({ author: 'agent', actions: { stateDelta: { step: 2 } } })];
  const upserts = [{ scope: 'session', name: 'step', value: '2' }] as const;
  const counterIncrements = { ...NO_COUNTS, events: 1 };
  const key = { ...ANN, sessionId };
  return { key, events, upserts, removals: [], counterIncrements, expiry: LIFETIMES, preconditions: {}, ...changes };
}

const text = (value: string) => ({ role: 'user', parts: [{ text: value }] });
const call = (id: string) => ({ role: 'model', parts: [{ functionCall: { id, name: 'find', args: {} } }] });
const response = (id: string) => ({ role: 'user', parts: [{ functionResponse: { id, name: 'find', response: {} } }] });

/** What damage by a commit leads to, and whether a repair mends it. */
const DAMAGES: Readonly<Record<string, readonly [changes: Partial<Commit>, code: string]>> = {
  'a value that no event has': [{ upserts: [{ scope: 'session', name: 'step', value: '7' }] }, 'STATE_DIFFERS'],
  'a key that no event has': [
    {
      upserts: [
        { scope: 'session', name: 'step', value: '2' },
        { scope: 'session', name: 'ghost', value: 'null' },
      ],
    },
    'STATE_DIFFERS',
  ],
  'a key that is gone': [{ upserts: [], removals: [{ scope: 'session', name: 'step' }] }, 'STATE_DIFFERS'],
  'a wrong count': [{ counterIncrements: { ...NO_COUNTS, events: 3, tokens: 5 } }, 'COUNTERS_DIFFER'],
  'a range that was never rewound': [
    { marks: { hidden: [{ from: 1, to: 1 }], viewFromSeq: 0, summarySeq: 0, covered: NO_COUNTS } },
    'MARKS_DIFFER',
  ],
  'an event that is no last one': [{ expiry: undefined }, 'RECORD_DIFFERS'],
};

const summed = (findings: readonly Finding[]): string[] =>
  findings.map(({ code, sessionId, repaired }) => `${sessionId} ${code} ${repaired}`).toSorted();

const expected = (repaired: boolean): string[] =>
  Object.values(DAMAGES).map(([, code], index) => `s-${index} ${code} ${repaired}`);

describe.each(storeOfEachKind)('The doctor of a $name store', ({ open }) => {
  let opened: OpenStorage;
  let sessions: SessionService;

  beforeAll(async () => {
    opened = await open({ clock });
    sessions = new SessionService({ storage: opened.storage, clock });
  });
  afterAll(() => opened.destroy());

  it('finds nothing in sessions with rewinds, summaries, forks, tools, trimmed and long logs', async () => {
    const session = await sessions.createSession({ ...ANN, sessionId: 'long', state: { a: 0, b: 1, 'user:t': 1 } });
    const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 2 };
    const events = Array.from({ length: 300 }, (_, index) => ({
      author: index % 3 === 0 ? 'user' : 'agent',
      content: text(`message ${index}`),
      actions: { stateDelta: { a: index, [`app:k${index % 7}`]: index, 'user:last': index } },
      ...(index % 3 === 1 && { usageMetadata, modelVersion: 'm-1' }),
    }));
    for (let start = 0; start < 300; start += 100) {
      await sessions.appendEvents({ session, events: events.slice(start, start + 100) });
    }
    for (const [seq, state] of [
      [1, false],
      [2, true],
      [50, true],
      [300, true],
    ] as const) {
      await sessions.redactEvent({ ...ANN, sessionId: 'long', seq, state, reason: 'why' });
    }
    const id = { ...ANN, sessionId: 'long' };
    await sessions.rewindSession({ ...id, toSeq: 280 });
    const summary = { content: text('what happened'), actions: { compaction: { fromSeq: 1, toSeq: 200 } } };
    await sessions.appendEvent({ session: { ...ANN, id: 'long' }, event: { author: 'system', ...summary } });
    for (const content of [text('find'), call('c1'), response('c1')]) {
      await sessions.appendEvent({ session: { ...ANN, id: 'long' }, event: { author: 'agent', content } });
    }
    await sessions.rewindSession({ ...id, toSeq: 150 });
    await sessions.rewindSession({ ...id, toSeq: 302 });
    await sessions.forkSession({ ...id, newSessionId: 'fork' });
    await sessions.appendEvent({ session: { ...ANN, id: 'fork' }, event: { author: 'user', content: text('more') } });

    const trimming = new SessionService({
      storage: opened.storage,
      history: { maxEvents: 4, keepHistory: false },
    });
    const short = await trimming.createSession({ appName: 'shop', userId: 'bob', state: { n: 0 } });
    for (let n = 1; n <= 60; n++) {
      const event = { author: 'user', content: text('hi'), actions: { stateDelta: { n, [`k${n % 5}`]: n } } };
      await trimming.appendEvent({ session: short, event });
    }
    await sessions.createSession({ appName: 'empty', userId: 'carl' });

    const diagnosis = await diagnose({ storage: opened.storage, pageSize: 50 });
    expect(diagnosis).toMatchObject({ isHealthy: true, findings: [], sessions: 4, warnings: 0 });
    expect(diagnosis.events).toBeGreaterThan(300);
  });

  it('finds damage, mends it by appending, and leaves every event', async () => {
    const appName = 'damaged';
    for (const [index, [changes]] of Object.values(DAMAGES).entries()) {
      const sessionId = `s-${index}`;
      const session = await sessions.createSession({ appName, userId: 'ann', sessionId, state: { step: 1 } });
      await sessions.appendEvent({ session, event: { author: 'user', content: text('go') } });
      const commit = commitOf(sessionId, changes);
      await opened.storage.append({ ...commit, key: { ...commit.key, appName } });
    }
    expect(summed(await found(opened.storage, { appName }))).toEqual(expected(false));
    expect(summed(await found(opened.storage, { appName, repair: true }))).toEqual(expected(true));
    expect(await found(opened.storage, { appName })).toEqual([]);

    const { events } = await sessions.listEvents({ appName, userId: 'ann', sessionId: 's-0' });
    expect(events).toHaveLength(3);
    expect(events[2]).toMatchObject({
      author: 'system',
      actions: { stateDelta: { step: 2 } },
      customMetadata: { repaired: ['STATE_DIFFERS'] },
    });
  });

  it('finds nothing in a session with more models than it counts by their names', async () => {
    const appName = 'models';
    const session = await sessions.createSession({ appName, userId: 'ann', sessionId: 's' });
    clock.advance(5);
    const events = Array.from({ length: 60 }, (_, number) => ({
      author: 'agent',
      modelVersion: `m-${number}`,
      usageMetadata: { totalTokenCount: 1 },
    }));
    await sessions.appendEvents({ session, events });
    expect(await found(opened.storage, { appName })).toEqual([]);
  });

  it('finds and mends tokens that no event reports, and calls without response', async () => {
    const appName = 'pairs';
    const session = await sessions.createSession({ appName, userId: 'ann', sessionId: 'tokens' });
    clock.advance(5);
    const models = [{ model: 'm', events: 1, promptTokens: 3, cachedTokens: 0, outputTokens: 0 }].map((one) => ({
      ...one,
      thinkingTokens: 0,
      toolUseTokens: 0,
      totalTokens: 3,
    }));
    const commit = commitOf('tokens', { usage: { models, keepMs: 1e9 }, upserts: [] });
    const event = commitEvent({ author: 'agent', content: response('nobody') });
    await opened.storage.append({ ...commit, events: [event], key: { appName, userId: 'ann', sessionId: 'tokens' } });
    await sessions.appendEvent({
      session: { appName, userId: 'ann', id: 'tokens' },
      event: { author: 'agent', content: call('c2') },
    });
    await sessions.appendEvent({ session, event: { author: 'user', content: text('and now?') } });
    const codes = async (repair: boolean): Promise<string[]> =>
      (await found(opened.storage, { appName, repair })).map(({ code, repaired }) => `${code} ${repaired}`).toSorted();
    const left = 'TOOL_RESPONSE_WITHOUT_CALL false';
    expect(await codes(false)).toEqual(['TOOL_CALL_WITHOUT_RESPONSE false', left, 'USAGE_TOO_HIGH false']);
    expect(await codes(true)).toEqual(['TOOL_CALL_WITHOUT_RESPONSE true', left, 'USAGE_TOO_HIGH true']);
    expect(await codes(true)).toEqual([left]);

    const { events } = await sessions.listEvents({ appName, userId: 'ann', sessionId: 'tokens' });
    expect(events).toHaveLength(4);
    const error = 'The process of the agent ended before the answer.';
    const functionResponse = { id: 'c2', name: 'find', response: { error } };
    expect(events[3]).toMatchObject({ author: 'agent', content: { role: 'user', parts: [{ functionResponse }] } });
  });

  it('answers each of several calls of a tool without ids, and none to which a turn may still respond', async () => {
    const appName = 'twins';
    const key = { appName, userId: 'ann', sessionId: 's' };
    const session = await sessions.createSession(key);
    const part = { functionCall: { name: 'find', args: {} } };
    const calls = { role: 'model', parts: [part, part] };
    const answer = { role: 'user', parts: [{ functionResponse: { name: 'find', response: {} } }] };
    for (const content of [calls, answer, text('and the other?')]) {
      const author = content === calls ? 'agent' : 'user';
      await sessions.appendEvent({ session, event: { author, content, invocationId: 'inv-1' } });
    }
    const turn = await sessions.beginTurn({ ...key, ttlMs: 60_000 });
    expect(await found(opened.storage, { appName, repair: true })).toEqual([]);
    await sessions.endTurn(turn);
    const mended = await found(opened.storage, { appName, repair: true });
    expect(mended).toEqual([expect.objectContaining({ code: 'TOOL_CALL_WITHOUT_RESPONSE', repaired: true })]);
    expect(await found(opened.storage, { appName })).toEqual([]);
    const { events } = await sessions.listEvents(key);
    expect(events.map(({ invocationId }) => invocationId)).toEqual(['inv-1', 'inv-1', 'inv-1', 'inv-1']);
  });

  it('derives checkpoints anew, unless somebody has appended', async () => {
    const appName = 'beside';
    const key = { appName, userId: 'ann', sessionId: 's' };
    const { storage } = opened;
    const session = await sessions.createSession({ ...key, state: { n: -1 } });
    for (let from = 0; from < 300; from += 100) {
      const events = Array.from({ length: 100 }, (_, n) => ({
        author: 'agent',
        actions: { stateDelta: { n: from + n } },
      }));
      await sessions.appendEvents({ session, events });
    }
    const checkpoint = async () => (await storage.read({ key, checkpointAt: 300 }))?.checkpoint;
    await until(async () => (await checkpoint()) !== undefined);
    const before = await checkpoint();
    const { incarnation, lastSeq } = (await storage.read({ key }))?.record ?? { incarnation: '', lastSeq: 0 };
    expect(await storage.rebuild({ key, incarnation, lastSeq: 299, removeCheckpoints: [256] })).toBe(false);
    expect(await checkpoint()).toEqual(before);
    expect(await storage.rebuild({ key, incarnation, lastSeq, removeCheckpoints: [256] })).toBe(true);
    expect(await checkpoint()).toBeUndefined();
    const wrong = JSON.stringify({ ...JSON.parse(before?.text ?? ''), counters: { events: 1 } });
    await storage.saveCheckpoint({ key, incarnation, seq: 256, text: wrong });

    const mended = await found(storage, { appName, repair: true });
    expect(mended).toEqual([expect.objectContaining({ code: 'CHECKPOINT_DIFFERS', repaired: true })]);
    expect(await found(storage, { appName })).toEqual([]);
    expect(await checkpoint()).toEqual(before);
  });

  it('finds what never expires, and gives it the lifetime of the settings', async () => {
    const appName = 'forever';
    await sessions.createSession({ appName, userId: 'ann', sessionId: 's', state: { 'user:a': 1, 'app:b': 2 } });
    const ttl = { enabled: true, sessionSeconds: 600, userStateSeconds: 600, appStateSeconds: 600 };
    const options = { appName, ttl, repair: true };
    expect((await found(opened.storage, { appName, ttl })).map(({ code }) => code)).toEqual(
      Array.from({ length: 3 }, () => 'EXPIRY_MISSING'),
    );
    expect((await found(opened.storage, options)).every(({ repaired }) => repaired)).toBe(true);
    expect(await found(opened.storage, options)).toEqual([]);
  });

  it('finds shared state that the last event does not explain', async () => {
    const appName = 'shared';
    const session = await sessions.createSession({ appName, userId: 'ann', sessionId: 's' });
    clock.advance(5);
    const actions = { stateDelta: { 'user:theme': 'dark', 'app:n': 1 }, stateRemovals: ['user:gone'] };
    await sessions.appendEvent({ session, event: { author: 'agent', actions } });
    await sessions.updateUserState({ appName, userId: 'ann', stateDelta: { theme: 'light' } });
    expect(await found(opened.storage, { appName })).toEqual([
      {
        code: 'SHARED_STATE_UNEXPLAINED',
        severity: 'warning',
        appName,
        userId: 'ann',
        detail: '1 user: keys are not what the last events say',
        repaired: false,
      },
    ]);
  });

  it('stops when it is told to', async () => {
    const controller = new AbortController();
    const check = checkStore({ storage: opened.storage, pageSize: 1, signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(check.next()).rejects.toThrow('enough');
  });
});
