import type { EventInput } from '../../sessions/domain/event/event.js';
import { topic } from '../contract-runner.js';
import type { SessionClient } from '../open-sessions.js';
import {
  KEY,
  REFERENCE,
  type ServiceFixture,
  agentSays,
  appendAll,
  changing,
  expectRefusal,
  load,
  rewindTo,
  sessionWith,
  createSummaryEvent,
  times,
  toolAnswers,
  turns,
  userSays,
  view,
  wholeLog,
} from './support.js';

const SECRET = 'canary-4711';
const REASON = 'a card number';
const REDACTED = '[redacted]';

function redact(sessions: SessionClient, seq: number, more: object = {}): ReturnType<SessionClient['redactEvent']> {
  return sessions.redactEvent({ ...KEY, seq, reason: REASON, ...more });
}

/** An event that says and holds a secret wherever one may be. */
const EVERYWHERE: EventInput = {
  id: 'e-2',
  invocationId: 'inv-1',
  author: 'agent',
  branch: 'root',
  timestamp: 1_767_225_600_000,
  content: {
    role: 'model',
    parts: [
      { text: SECRET },
      { text: SECRET, thought: true, thoughtSignature: SECRET },
      { functionCall: { id: 'call-1', name: 'search', args: { q: SECRET } } },
      { functionResponse: { id: 'call-0', name: 'find', response: { found: SECRET } } },
      { inlineData: { mimeType: 'text/plain', data: SECRET } },
      { fileData: { fileUri: `https://example.com/${SECRET}` } },
      { executableCode: { code: SECRET } },
    ],
  },
  customMetadata: { note: SECRET },
  errorMessage: SECRET,
  groundingMetadata: { source: SECRET },
  inputTranscription: { text: SECRET },
  output: SECRET,
  usageMetadata: { promptTokenCount: 5, totalTokenCount: 7, promptTokensDetails: [{ modality: SECRET }] },
  modelVersion: 'm-1',
  longRunningToolIds: ['call-1'],
  actions: {
    artifactDelta: { file: 1 },
    transferToAgent: 'other',
    requestedToolConfirmations: { 'call-1': { hint: SECRET } },
    agentState: { step: SECRET },
  },
};

export const redacting = topic<ServiceFixture>('redactEvent', (test) => {
  test('nothing of what an event said stays in the store, and its place stays', async ({ open }) => {
    const { sessions, raw } = await open();
    await sessionWith(sessions, [userSays('u1'), EVERYWHERE, userSays('u3')]);
    const [before] = (await wholeLog(sessions)).slice(1);
    const { event, duplicate, alsoIn } = await redact(sessions, 2);
    expect((await raw()).text).not.toContain(SECRET);
    expect(event).toEqual({
      id: 'e-2',
      seq: 2,
      invocationId: 'inv-1',
      author: 'agent',
      branch: 'root',
      timestamp: 1_767_225_600_000,
      modelVersion: 'm-1',
      longRunningToolIds: ['call-1'],
      usageMetadata: { promptTokenCount: 5, totalTokenCount: 7 },
      content: {
        role: 'model',
        parts: [
          { text: REDACTED },
          { text: REDACTED, thought: true },
          { functionCall: { id: 'call-1', name: 'search', args: {} } },
          { functionResponse: { id: 'call-0', name: 'find', response: {} } },
          { text: REDACTED },
          { text: REDACTED },
          { text: REDACTED },
        ],
      },
      actions: {
        stateDelta: {},
        artifactDelta: { file: 1 },
        transferToAgent: 'other',
        requestedToolConfirmations: { 'call-1': {} },
      },
      redaction: {
        at: expect.any(Number),
        reason: REASON,
        bytes: Buffer.byteLength(JSON.stringify({ ...before, seq: undefined })),
        contentLength: 2 * SECRET.length,
      },
    });
    expect([duplicate, alsoIn]).toEqual([false, []]);
    expect((await wholeLog(sessions))[1]).toEqual(event);
    expect(await view(sessions)).toContain('u3');
  });

  test('numbers, counters, order, views and turns stay as they were', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [...turns('u', 'a', 'u', 'a', 'u'), rewindTo(4), userSays('u7')]);
    const turn = await sessions.beginTurn({ ...KEY, holder: 'one' });
    const { events, metadata: _metadata, ...before } = await load(sessions);
    await redact(sessions, 1);
    const after = await load(sessions);
    expect(after.conversationCount).toBe(before.conversationCount);
    expect(after.events.slice(0, -1).map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq));
    expect(await sessions.getTurn(KEY)).toMatchObject({ holder: turn.holder, number: turn.number });
    expect(await view(sessions, { numRecentEvents: 4 })).toEqual(['u3', 'a4', 'u7', '']);
    expect((await wholeLog(sessions)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('a watch and the log are told once, by an event of the system', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a'));
    const watch = sessions.watch({ ...KEY, afterSeq: 2 });
    const [first] = (await wholeLog(sessions)).slice(0, 1);
    await redact(sessions, 1);
    const { value } = await watch.next();
    await watch.return?.();
    expect(value).toMatchObject({ seq: 3, author: 'system', actions: { redacts: { id: first?.id } } });
    await redact(sessions, 1);
    expect(await wholeLog(sessions)).toHaveLength(3);
  });

  test('a repetition changes nothing, and keeps the first reason', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [userSays(SECRET)]);
    const { event } = await redact(sessions, 1);
    const again = await sessions.redactEvent({ ...KEY, seq: 1, reason: 'another one' });
    expect(again).toEqual({ event, duplicate: true, alsoIn: [] });
  });

  test('a retry of the append finds the redacted event, and brings nothing back', async ({ open }) => {
    const { sessions, raw } = await open();
    const event = userSays(SECRET, { id: 'e-1', timestamp: 1_767_225_600_000, actions: { stateDelta: { k: 1 } } });
    await sessionWith(sessions, [event]);
    for (const state of [false, true]) {
      const { event: redacted } = await redact(sessions, 1, { state });
      for (const sent of [event, redacted]) {
        expect(await sessions.append({ session: REFERENCE, event: sent })).toEqual({
          event: redacted,
          duplicate: true,
        });
      }
      await expectRefusal(
        sessions.append({ session: REFERENCE, event: { ...event, author: 'agent' } }),
        'EVENT_CONFLICT',
      );
      await expectRefusal(
        sessions.append({ session: REFERENCE, event: { ...event, actions: { stateDelta: { other: 1 } } } }),
        'EVENT_CONFLICT',
      );
    }
    expect((await raw()).text).not.toContain(SECRET);
  });

  test('names summaries and other events that may say the same, which can be redacted too', async ({ open }) => {
    const { sessions, raw } = await open();
    await sessionWith(sessions, [
      userSays(SECRET),
      agentSays('ok'),
      userSays(SECRET),
      createSummaryEvent(1, 3, `They said ${SECRET}`),
      userSays('u5'),
    ]);
    const { alsoIn } = await redact(sessions, 1);
    expect(alsoIn).toEqual([3, 4]);
    for (const seq of alsoIn) await redact(sessions, seq);
    expect((await raw()).text).not.toContain(SECRET);
    expect((await redact(sessions, 1)).alsoIn).toEqual([]);
    expect(await view(sessions)).toEqual([REDACTED, 'u5', '', '', '']);
  });

  test('state stays unless it is asked for', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [changing('e-1', { address: SECRET, step: 1 }), changing('e-2', { step: 2 })]);
    expect((await redact(sessions, 1)).event.actions.stateDelta).toEqual({ address: SECRET, step: 1 });
    expect((await load(sessions)).state.toRecord()).toEqual({ address: SECRET, step: 2 });
    expect((await sessions.stateAt({ ...KEY, seq: 1 })).state).toEqual({ address: SECRET, step: 1 });
  });

  test('with state, values go where they are still there, also from its history', async ({ open }) => {
    const { sessions, raw } = await open();
    const values = { address: SECRET, step: 1, 'user:address': SECRET };
    await sessionWith(sessions, [changing('e-1', values), changing('e-2', { step: 2 })]);
    const { event } = await redact(sessions, 1, { state: true });
    expect(event.actions).toEqual({ stateDelta: {}, stateRemovals: ['address', 'step', 'user:address'] });
    expect((await load(sessions)).state.toRecord()).toEqual({ step: 2 });
    expect((await sessions.stateAt({ ...KEY, seq: 1 })).state).toEqual({});
    expect((await sessions.stateAt({ ...KEY, seq: 2 })).state).toEqual({ step: 2 });
    expect((await raw()).text).not.toContain(SECRET);
    expect(await redact(sessions, 1, { state: true })).toMatchObject({ duplicate: true });
  });

  test('with state, checkpoints are derived again', async ({ open }) => {
    const { sessions, raw } = await open();
    await sessions.createSession(KEY);
    const log = [changing('e-1', { address: SECRET }), ...times(1_100, (index) => agentSays(`a${index}`))];
    for (let from = 0; from < log.length; from += 100) {
      await sessions.appendEvents({ session: REFERENCE, events: log.slice(from, from + 100) });
    }
    await sessions.whenIdle();
    expect((await raw()).text).toContain(SECRET);
    await redact(sessions, 1, { state: true });
    expect((await raw()).text).not.toContain(SECRET);
    expect((await sessions.stateAt({ ...KEY, seq: 1_024 })).state).toEqual({});
  });

  test('a fork has what its source had, before and after', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [userSays(SECRET), agentSays('a2')]);
    await sessions.forkSession({ ...KEY, newSessionId: 'before' });
    await redact(sessions, 1);
    await sessions.forkSession({ ...KEY, newSessionId: 'after' });
    const textsIn = async (sessionId: string): Promise<string> =>
      JSON.stringify((await load(sessions, { sessionId })).events);
    expect(await textsIn('before')).toContain(SECRET);
    expect(await textsIn('after')).not.toContain(SECRET);
    await sessions.redactEvent({ ...KEY, sessionId: 'before', seq: 1, reason: REASON });
    expect(await textsIn('before')).not.toContain(SECRET);
  });

  test('a trimmed log forgets a redacted event like others, and still knows its retry', async ({ open }) => {
    const { sessions } = await open({ history: { keepHistory: false, maxEvents: 4 } });
    const event = userSays(SECRET, { id: 'e-1' });
    await sessionWith(sessions, [event]);
    await redact(sessions, 1);
    await appendAll(
      sessions,
      times(140, (index) => userSays(`u${index}`)),
    );
    await sessions.whenIdle();
    const { firstSeq } = await sessions.listEvents(KEY);
    expect(firstSeq).toBeGreaterThan(1);
    expect(await sessions.append({ session: REFERENCE, event })).toMatchObject({ duplicate: true });
    await expectRefusal(redact(sessions, 1), 'INVALID_INPUT', { path: 'seq' });
  });

  test('a session that accepts only writes in a turn gets one', async ({ open }) => {
    const { sessions, raw } = await open();
    await sessions.createSession({ ...KEY, turnsOnly: true });
    const turn = await sessions.beginTurn({ ...KEY, holder: 'one' });
    await sessions.appendEvent({ session: REFERENCE, event: userSays(SECRET), turn });
    await expectRefusal(redact(sessions, 1), 'TURN_HELD');
    await redact(sessions, 1, { turn });
    await sessions.endTurn(turn);
    await redact(sessions, 1);
    expect((await raw()).text).not.toContain(SECRET);
    expect(await wholeLog(sessions)).toHaveLength(2);
  });

  test('a missing session has nothing to redact', async ({ open }) => {
    const { sessions } = await open();
    await expectRefusal(redact(sessions, 1), 'SESSION_NOT_FOUND', { sessionId: 's-1' });
  });

  test('refuses what is no event, and no reason', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [userSays('u1'), toolAnswers('c')]);
    const refused = async (request: object, path: string): Promise<void> =>
      expectRefusal(redact(sessions, 1, request), 'INVALID_INPUT', { path });
    await refused({ seq: 0 }, 'seq');
    await refused({ seq: 3 }, 'seq');
    await refused({ reason: '' }, 'reason');
    await refused({ reason: 'x'.repeat(501) }, 'reason');
    expect(await wholeLog(sessions)).toHaveLength(2);
  });

  test('refuses a reason that is no text, and an unclear word about the state', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [userSays('u1')]);
    const wrong = { reason: 1 as never };
    await expectRefusal(redact(sessions, 1, wrong), 'INVALID_INPUT', { path: 'reason' });
    await expectRefusal(redact(sessions, 1, { state: 'yes' as never }), 'INVALID_INPUT', { path: 'state' });
    expect(await wholeLog(sessions)).toHaveLength(1);
  });
});
