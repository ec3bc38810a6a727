import type { SessionsErrorCode } from '../../sessions/domain/errors/errors.js';
import { topic } from '../contract-runner.js';
import {
  KEY,
  REFERENCE,
  type ServiceFixture,
  agentSays,
  appendAll,
  expectRefusal,
  load,
  rewindTo,
  sessionWith,
  shown,
  createSummaryEvent,
  userSays,
  wholeLog,
} from './support.js';

const TURN = { ...KEY, holder: 'one', ttlMs: 10_000 };

export const turns = topic<ServiceFixture>('turns', (test) => {
  test('a turn has its session, its holder and its expiry', async ({ open, clock }) => {
    const { sessions } = await open();
    await sessionWith(sessions);
    const turn = await sessions.beginTurn(TURN);
    expect(turn).toEqual({ ...TURN, number: 1, token: expect.any(String), expiresAt: clock.now() + 10_000 });
    const { holder, number, expiresAt } = turn;
    expect(await sessions.getTurn(KEY)).toEqual({ holder, number, expiresAt });
    clock.advance(10_000);
    expect(await sessions.getTurn(KEY)).toBeUndefined();
  });

  test('a held turn is refused, and the error has holder and expiry, but no token', async ({ open, clock }) => {
    const { sessions } = await open();
    await sessionWith(sessions);
    const turn = await sessions.beginTurn(TURN);
    const refused = await sessions.beginTurn({ ...TURN, holder: 'two' }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'TURN_HELD', status: 409 });
    expect((refused as Error).message).toContain('"one"');
    expect((refused as Error).message).toContain(new Date(clock.now() + 10_000).toISOString());
    expect(`${String(refused)} ${JSON.stringify(refused)}`).not.toContain(turn.token);
    await expectRefusal(sessions.beginTurn(TURN), 'TURN_HELD');
  });

  test('the same holder gets its turn again with the same request id', async ({ open, clock }) => {
    const { sessions } = await open();
    await sessionWith(sessions);
    const turn = await sessions.beginTurn({ ...TURN, requestId: 'job 7' });
    clock.advance(4_000);
    expect(await sessions.beginTurn({ ...TURN, requestId: 'job 7' })).toEqual({
      ...turn,
      expiresAt: clock.now() + 10_000,
    });
    await expectRefusal(sessions.beginTurn({ ...TURN, requestId: 'job 8' }), 'TURN_HELD');
  });

  test('events are appended under a turn, by its object or its token', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    const turn = await sessions.beginTurn(TURN);
    await sessions.appendEvent({ session, event: userSays('one'), turn });
    await sessions.appendEvent({ session: REFERENCE, event: agentSays('two'), turn: turn.token });
    expect(shown(await load(sessions))).toEqual(['one', 'two']);
  });

  test('a writer whose turn was taken over writes nothing', async ({ open, clock }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions, [userSays('question')]);
    const former = await sessions.beginTurn(TURN);
    clock.advance(10_000);
    const next = await sessions.beginTurn({ ...TURN, holder: 'two' });
    expect(next.number).toBe(2);
    await sessions.appendEvent({ session: REFERENCE, event: agentSays('answer'), turn: next });
    const before = await raw();
    const actions = { stateDelta: { k: 1, 'user:k': 1, 'app:k': 1 } };
    await expectRefusal(
      sessions.appendEvent({ session, event: agentSays('late', { actions }), turn: former }),
      'TURN_LOST',
    );
    await expectRefusal(sessions.rewindSession({ ...KEY, toSeq: 0, turn: former }), 'TURN_LOST');
    await expectRefusal(sessions.renewTurn(former), 'TURN_LOST');
    await sessions.endTurn(former);
    expect(await raw()).toEqual(before);
    expect(await sessions.getTurn(KEY)).toMatchObject({ holder: 'two' });
  });

  test('a renewed turn lasts longer', async ({ open, clock }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    const turn = await sessions.beginTurn(TURN);
    clock.advance(9_999);
    expect(await sessions.renewTurn(turn)).toEqual({ ...turn, expiresAt: clock.now() + 10_000 });
    clock.advance(9_999);
    await sessions.appendEvent({ session, event: agentSays('in time'), turn });
    clock.advance(1);
    await expectRefusal(sessions.appendEvent({ session, event: agentSays('late'), turn }), 'TURN_LOST');
    await expectRefusal(sessions.renewTurn(turn), 'TURN_LOST');
  });

  test('an ended turn is over, and a second end is no error', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions);
    const turn = await sessions.beginTurn(TURN);
    await sessions.endTurn(turn);
    await sessions.endTurn(turn);
    expect(await sessions.getTurn(KEY)).toBeUndefined();
    await expectRefusal(sessions.appendEvent({ session, event: agentSays('late'), turn }), 'TURN_LOST');
    expect(await sessions.beginTurn({ ...TURN, holder: 'two' })).toMatchObject({ number: 2 });
  });

  test('the last append ends the turn, and its retry returns the stored event', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions);
    const turn = await sessions.beginTurn(TURN);
    const last = { session: REFERENCE, event: agentSays('last', { id: 'e1' }), turn, endTurn: true };
    await sessions.append(last);
    expect(await sessions.getTurn(KEY)).toBeUndefined();
    expect(await sessions.append(last)).toMatchObject({ duplicate: true, event: { id: 'e1', seq: 1 } });
    await expectRefusal(sessions.appendEvent({ ...last, event: agentSays('later') }), 'TURN_LOST');
  });

  test('several events are appended under a turn, and the last batch ends it', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessions.createSession({ ...KEY, turnsOnly: true });
    const events = [agentSays('one', { id: 'e1' }), agentSays('two', { id: 'e2' })];
    await expectRefusal(sessions.appendEvents({ session, events }), 'TURN_REQUIRED');
    const turn = await sessions.beginTurn(TURN);
    const batch = { session: REFERENCE, events, turn, endTurn: true };
    await sessions.appendEvents(batch);
    expect(await sessions.getTurn(KEY)).toBeUndefined();
    expect(await sessions.appendBatch(batch)).toMatchObject({ duplicate: true });
    await expectRefusal(sessions.appendEvents({ ...batch, events: [agentSays('late')] }), 'TURN_LOST');
    expect(shown(await load(sessions))).toEqual(['one', 'two']);
  });

  test('a rewind is possible in a turn, which goes on', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [userSays('one'), agentSays('two')]);
    const turn = await sessions.beginTurn(TURN);
    const session = await sessions.rewindSession({ ...KEY, toSeq: 1, turn });
    expect(shown(session)).toEqual(['one']);
    await sessions.appendEvent({ session, event: rewindTo(0), turn });
    await sessions.appendEvent({ session, event: agentSays('three'), turn, endTurn: true });
    expect(shown(await load(sessions))).toEqual(['three']);
  });

  for (const kind of ['rewindSession', 'an event']) {
    test(`a rewind without the turn ends it, so that its writer stores nothing more, by ${kind}`, async ({ open }) => {
      const { sessions } = await open();
      const session = await sessionWith(sessions, [userSays('one')]);
      const turn = await sessions.beginTurn(TURN);
      await sessions.appendEvent({ session, event: agentSays('two'), turn });
      if (kind === 'an event') await sessions.appendEvent({ session: REFERENCE, event: rewindTo(1) });
      else await sessions.rewindSession({ ...KEY, toSeq: 1 });
      expect(await sessions.getTurn(KEY)).toBeUndefined();
      await expectRefusal(sessions.appendEvent({ session, event: agentSays('three'), turn }), 'TURN_LOST');
      expect(shown(await load(sessions))).toEqual(['one']);
      const next = await sessions.beginTurn({ ...TURN, holder: 'two' });
      await sessions.appendEvent({ session: REFERENCE, event: agentSays('four'), turn: next });
      expect(shown(await load(sessions))).toEqual(['one', 'four']);
    });
  }

  test('a save needs a turn like an append, and can end it', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessions.createSession({ ...KEY, turnsOnly: true });
    session.state.set('k', 1);
    await expectRefusal(sessions.updateSession(session), 'TURN_REQUIRED');
    const former = await sessions.beginTurn(TURN);
    await sessions.endTurn(former);
    await expectRefusal(sessions.updateSession(session, { turn: former }), 'TURN_LOST');
    expect(await wholeLog(sessions)).toEqual([]);
    const turn = await sessions.beginTurn(TURN);
    await sessions.updateSession(session, { turn, endTurn: true });
    expect((await load(sessions)).state.get('k')).toBe(1);
    expect(await sessions.getTurn(KEY)).toBeUndefined();
  });

  test('a held turn does not block appends that name no turn', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions);
    await sessions.beginTurn(TURN);
    await appendAll(sessions, [userSays('between')]);
    expect(await wholeLog(sessions)).toHaveLength(1);
  });

  test('a session with turnsOnly refuses writes without a turn, except summaries', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessions.createSession({ ...KEY, turnsOnly: true });
    expect(session.turnsOnly).toBe(true);
    expect((await load(sessions)).turnsOnly).toBe(true);
    expect((await sessions.listSessions(KEY)).sessions).toMatchObject([{ turnsOnly: true }]);
    const turn = await sessions.beginTurn(TURN);
    await sessions.appendEvent({ session, event: userSays('one'), turn });
    const before = await raw();
    await expectRefusal(sessions.appendEvent({ session, event: userSays('two') }), 'TURN_REQUIRED', { status: 409 });
    await expectRefusal(sessions.rewindSession({ ...KEY, toSeq: 0 }), 'TURN_REQUIRED');
    expect(await raw()).toEqual(before);
    await sessions.endTurn(turn);
    await sessions.appendEvent({ session: REFERENCE, event: createSummaryEvent(1, 1) });
    expect(await wholeLog(sessions)).toHaveLength(2);
  });

  test('a fork has no turn, and inherits turnsOnly', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession({ ...KEY, turnsOnly: true });
    const turn = await sessions.beginTurn(TURN);
    await sessions.appendEvent({ session: REFERENCE, event: userSays('one'), turn });
    const fork = await sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    expect(fork.turnsOnly).toBe(true);
    expect(await sessions.getTurn({ ...KEY, sessionId: 'fork' })).toBeUndefined();
    const session = { ...REFERENCE, id: 'fork' };
    await expectRefusal(sessions.appendEvent({ session, event: userSays('two'), turn }), 'TURN_LOST');
    await expectRefusal(sessions.appendEvent({ session, event: userSays('two') }), 'TURN_REQUIRED');
  });

  test('a new session with the same id refuses an old turn', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions);
    const turn = await sessions.beginTurn({ ...TURN, requestId: 'job' });
    await sessions.deleteSession(KEY);
    await sessionWith(sessions);
    await sessions.beginTurn({ ...TURN, requestId: 'job' });
    await expectRefusal(sessions.appendEvent({ session: REFERENCE, event: userSays('old'), turn }), 'TURN_LOST');
    expect(await wholeLog(sessions)).toEqual([]);
  });

  test('turns change neither version nor times nor expiry', async ({ open, clock }) => {
    const { sessions } = await open({ ttl: { enabled: true, sessionSeconds: 60, refreshOnRead: false } });
    const before = await sessionWith(sessions);
    clock.advance(59_000);
    const turn = await sessions.beginTurn(TURN);
    await sessions.renewTurn(turn);
    const { version, lastUpdateTime } = await load(sessions);
    expect({ version, lastUpdateTime }).toEqual({ version: 0, lastUpdateTime: before.lastUpdateTime });
    clock.advance(1_000);
    await expectRefusal(sessions.renewTurn(turn), 'SESSION_NOT_FOUND');
    await expectRefusal(sessions.beginTurn(TURN), 'SESSION_NOT_FOUND');
    await expectRefusal(sessions.getTurn(KEY), 'SESSION_NOT_FOUND');
    await expectRefusal(sessions.endTurn(turn), 'SESSION_NOT_FOUND');
  });

  const invalid: readonly [what: string, path: string, call: Record<string, unknown>][] = [
    ['an empty holder', 'holder', { holder: '' }],
    ['a holder with a control character', 'holder', { holder: 'a\nb' }],
    ['a holder that is too long', 'holder', { holder: 'é'.repeat(96) }],
    ['a holder that is no text', 'holder', { holder: 7 }],
    ['a blank request id', 'requestId', { requestId: ' ' }],
    ['a time below 100 ms', 'ttlMs', { ttlMs: 99 }],
    ['a time above a day', 'ttlMs', { ttlMs: 86_400_001 }],
    ['a time that is no whole number', 'ttlMs', { ttlMs: 1_000.5 }],
  ];
  for (const [what, path, call] of invalid) {
    test(`a turn is refused: ${what}`, async ({ open }) => {
      const { sessions } = await open();
      await sessionWith(sessions);
      await expectRefusal(sessions.beginTurn({ ...TURN, ...call }), 'INVALID_INPUT', { path });
    });
  }

  test('an invalid turn is refused', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions);
    const turn = await sessions.beginTurn(TURN);
    const refused: [Record<string, unknown>, SessionsErrorCode][] = [
      [{ turn: '' }, 'INVALID_INPUT'],
      [{ turn: 7 }, 'INVALID_INPUT'],
      [{ turn: {} }, 'INVALID_INPUT'],
      [{ endTurn: true }, 'INVALID_INPUT'],
      [{ turn, endTurn: 'yes' }, 'INVALID_INPUT'],
      [{ turn: 'another' }, 'TURN_LOST'],
      [{ turn: `${turn.token}x` }, 'TURN_LOST'],
    ];
    for (const [more, code] of refused) {
      await expectRefusal(sessions.appendEvent({ session: REFERENCE, event: userSays('no'), ...more }), code);
    }
    expect(await wholeLog(sessions)).toEqual([]);
  });
});
