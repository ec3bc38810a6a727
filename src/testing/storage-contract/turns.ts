import { topic } from '../contract-runner.js';
import { NO_TURN, type StoredTurn, type TurnBeginning } from '../../sessions/domain/stored/turn.js';
import type { SessionStorage } from '../../sessions/storage/session-storage.js';
import {
  KEY,
  type StorageFixture,
  createTestCommit,
  creation,
  lives,
  readSession,
  sessionWithEvents,
  together,
} from './support.js';

let tokens = 0;

/** Begins a turn of the session of {@link KEY} with a new token. */
function beginning(changes: Partial<TurnBeginning> = {}): TurnBeginning {
  const token = `token ${++tokens}`;
  return { action: 'begin', key: KEY, token, holder: 'one', requestId: token, ttlMs: 10_000, ...changes };
}

/** Begins the turn, and fails if it is held. */
async function begun(storage: SessionStorage, changes: Partial<TurnBeginning> = {}): Promise<StoredTurn> {
  const outcome = await storage.turn(beginning(changes));
  if (outcome.kind !== 'changed') throw new Error(`The turn is ${outcome.kind}`);
  return outcome.turn;
}

const under = (id: string, { token }: StoredTurn) => createTestCommit(id, { preconditions: { turnToken: token } });

export const turns = topic<StorageFixture>('turns', (test) => {
  test('a new session has no turn, and refuses any token', async ({ storage }) => {
    await storage.create(creation());
    expect((await readSession(storage)).record).toMatchObject({ turn: NO_TURN, turnsOnly: false });
    const token = 'any';
    expect(await storage.append(createTestCommit('e1', { preconditions: { turnToken: token } }))).toEqual({
      kind: 'turnLost',
    });
    expect(await storage.turn({ action: 'renew', key: KEY, token, ttlMs: 1_000 })).toEqual({ kind: 'lost' });
    expect(await storage.turn({ action: 'end', key: KEY, token })).toEqual({ kind: 'lost' });
  });

  test('the record has the turn as it was begun', async ({ storage, clock }) => {
    await storage.create(creation());
    const request = beginning({ holder: 'worker 7', requestId: 'job 1', ttlMs: 5_000 });
    const expected = {
      number: 1,
      token: request.token,
      holder: 'worker 7',
      requestId: 'job 1',
      expiresAt: clock.now() + 5_000,
    };
    expect(await storage.turn(request)).toEqual({ kind: 'changed', turn: expected, takesOver: false });
    expect((await readSession(storage)).record.turn).toEqual(expected);
  });

  test('a held turn is refused to other requests, including those of its holder', async ({ storage }) => {
    await storage.create(creation());
    const held = await begun(storage, { requestId: 'job' });
    for (const other of [{ holder: 'two' }, { holder: 'one' }, { holder: 'two', requestId: 'job' }]) {
      expect(await storage.turn(beginning(other))).toEqual({ kind: 'held', turn: held });
    }
    expect((await readSession(storage)).record.turn).toEqual(held);
  });

  test('a repeated request gets its turn again, with its full lifetime', async ({ storage, clock }) => {
    await storage.create(creation());
    const first = await begun(storage, { requestId: 'job' });
    clock.advance(9_999);
    expect(await begun(storage, { requestId: 'job' })).toEqual({ ...first, expiresAt: clock.now() + 10_000 });
    expect(await storage.append(under('e1', first))).toMatchObject({ kind: 'appended' });
  });

  test('the outcome says whether the writer before may have died', async ({ storage, clock }) => {
    await storage.create(creation());
    const first = beginning();
    expect(await storage.turn(first)).toMatchObject({ takesOver: false });
    expect(await storage.turn(first)).toMatchObject({ takesOver: true });
    clock.advance(10_000);
    const second = beginning();
    expect(await storage.turn(second)).toMatchObject({ turn: { number: 2 }, takesOver: true });
    await storage.turn({ action: 'end', key: KEY, token: second.token });
    const third = beginning();
    expect(await storage.turn(third)).toMatchObject({ turn: { number: 3 }, takesOver: false });
    await storage.append(createTestCommit('e1', { preconditions: { turnToken: third.token }, endsTurn: true }));
    expect(await storage.turn(beginning())).toMatchObject({ turn: { number: 4 }, takesOver: false });
  });

  test('one of 30 concurrent requests begins the turn', async ({ storage }) => {
    await storage.create(creation());
    const outcomes = await together(30, (index) => storage.turn(beginning({ holder: `holder ${index}` })));
    const [winner, ...others] = outcomes.filter(({ kind }) => kind === 'changed');
    expect(others).toEqual([]);
    const lost = outcomes.filter((outcome) => outcome !== winner);
    expect(new Set(lost.map(({ kind }) => kind))).toEqual(new Set(['held']));
    expect({ kind: 'changed', turn: (await readSession(storage)).record.turn, takesOver: false }).toEqual(winner);
  });

  test('one of 30 concurrent requests takes over an expired turn', async ({ storage, clock }) => {
    await storage.create(creation());
    const former = await begun(storage, { ttlMs: 1_000 });
    clock.advance(1_000);
    const outcomes = await together(30, (index) => storage.turn(beginning({ holder: `holder ${index}` })));
    expect(outcomes.filter(({ kind }) => kind === 'changed')).toHaveLength(1);
    expect((await readSession(storage)).record.turn).toMatchObject({ number: 2 });
    expect(await storage.append(under('e1', former))).toEqual({ kind: 'turnLost' });
  });

  test('a turn is over from the moment it expires', async ({ storage, clock, raw }) => {
    await storage.create(creation());
    const turn = await begun(storage, { ttlMs: 10_000 });
    clock.advance(9_999);
    expect(await storage.append(under('e1', turn))).toMatchObject({ kind: 'appended' });
    expect(await storage.turn(beginning({ holder: 'two' }))).toMatchObject({ kind: 'held' });
    clock.advance(1);
    const before = await raw();
    expect(await storage.append(under('e2', turn))).toEqual({ kind: 'turnLost' });
    expect(await storage.turn({ action: 'renew', key: KEY, token: turn.token, ttlMs: 10_000 })).toEqual({
      kind: 'lost',
    });
    expect(await storage.turn({ action: 'end', key: KEY, token: turn.token })).toEqual({ kind: 'lost' });
    expect(await raw()).toEqual(before);
    expect(await begun(storage, { holder: 'two' })).toMatchObject({ number: 2, holder: 'two' });
  });

  test('a renewed turn has the new lifetime from now on', async ({ storage, clock }) => {
    await storage.create(creation());
    const turn = await begun(storage, { ttlMs: 10_000 });
    clock.advance(9_000);
    const renewed = { ...turn, expiresAt: clock.now() + 3_000 };
    expect(await storage.turn({ action: 'renew', key: KEY, token: turn.token, ttlMs: 3_000 })).toEqual({
      kind: 'changed',
      turn: renewed,
    });
    clock.advance(2_999);
    expect(await storage.append(under('e1', turn))).toMatchObject({ kind: 'appended' });
    clock.advance(1);
    expect(await storage.append(under('e2', turn))).toEqual({ kind: 'turnLost' });
  });

  test('an ended turn is over immediately, and the next one has a higher number', async ({ storage }) => {
    await storage.create(creation());
    const turn = await begun(storage);
    expect(await storage.turn({ action: 'end', key: KEY, token: turn.token })).toEqual({
      kind: 'changed',
      turn: { ...turn, expiresAt: 0 },
    });
    expect(await storage.append(under('e1', turn))).toEqual({ kind: 'turnLost' });
    const next = await begun(storage, { holder: 'two' });
    expect(next).toMatchObject({ number: 2, holder: 'two' });
    expect(await storage.turn({ action: 'end', key: KEY, token: turn.token })).toEqual({ kind: 'lost' });
    expect(await storage.append(under('e1', next))).toMatchObject({ kind: 'appended' });
  });

  test('a commit under a lost turn writes nothing', async ({ storage, clock, raw }) => {
    await sessionWithEvents(storage, 1);
    const former = await begun(storage, { ttlMs: 1_000 });
    clock.advance(1_000);
    const next = await begun(storage, { holder: 'two' });
    const before = await raw();
    const upserts = (['session', 'user', 'app'] as const).map((scope) => ({ scope, name: 'k', value: '1' }));
    expect(await storage.append({ ...under('zombie', former), upserts })).toEqual({ kind: 'turnLost' });
    expect(await raw()).toEqual(before);
    expect(await storage.append({ ...under('e2', next), upserts })).toMatchObject({ kind: 'appended' });
  });

  test('an append can end its turn', async ({ storage }) => {
    await storage.create(creation());
    const turn = await begun(storage);
    const last = { ...under('last', turn), endsTurn: true };
    expect(await storage.append(last)).toMatchObject({
      kind: 'appended',
      record: { turn: { ...turn, expiresAt: 0 } },
    });
    expect((await readSession(storage)).record.turn).toEqual({ ...turn, expiresAt: 0 });
    expect(await storage.append(under('later', turn))).toEqual({ kind: 'turnLost' });
    expect(await storage.append(last)).toMatchObject({ kind: 'seen' });
    expect(await begun(storage, { holder: 'two' })).toMatchObject({ number: 2 });
  });

  test('a commit without a turn can end the one that is held, and none if there is none', async ({ storage }) => {
    await storage.create(creation());
    expect(await storage.append({ ...createTestCommit('e0'), endsTurn: true })).toMatchObject({
      kind: 'appended',
      record: { turn: NO_TURN },
    });
    const turn = await begun(storage);
    const ended = { ...turn, expiresAt: 0 };
    expect(await storage.append({ ...createTestCommit('e1'), endsTurn: true })).toMatchObject({
      record: { turn: ended },
    });
    expect((await readSession(storage)).record.turn).toEqual(ended);
    expect(await storage.append(under('e2', turn))).toEqual({ kind: 'turnLost' });
    expect(await begun(storage, { holder: 'two' })).toMatchObject({ number: 2 });
  });

  test('stored events are checked before the turn, and the turn before the version', async ({ storage }) => {
    await storage.create(creation());
    const turn = await begun(storage);
    await storage.append(under('e1', turn));
    await storage.turn({ action: 'end', key: KEY, token: turn.token });
    expect(await storage.append(under('e1', turn))).toMatchObject({ kind: 'seen', events: [{ seq: 1 }] });
    const preconditions = { turnToken: turn.token, expectedVersion: 0 };
    expect(await storage.append(createTestCommit('e2', { preconditions }))).toEqual({ kind: 'turnLost' });
  });

  test('a held turn does not block commits without a turn', async ({ storage }) => {
    await storage.create(creation());
    await begun(storage);
    expect(await storage.append(createTestCommit('e1'))).toMatchObject({ kind: 'appended' });
  });

  test('a session with turnsOnly refuses commits without a turn, except summaries', async ({ storage, raw }) => {
    await storage.create(creation({ turnsOnly: true }));
    const before = await raw();
    expect(await storage.append(createTestCommit('e1'))).toEqual({ kind: 'turnRequired' });
    expect(await raw()).toEqual(before);
    const turn = await begun(storage);
    expect(await storage.append(createTestCommit('e1'))).toEqual({ kind: 'turnRequired' });
    expect(await storage.append(under('e1', turn))).toMatchObject({ kind: 'appended', record: { turnsOnly: true } });
    expect(await storage.append(createTestCommit('summary', { expiry: undefined }))).toMatchObject({
      kind: 'appended',
    });
    expect(await storage.append(createTestCommit('e1'))).toMatchObject({ kind: 'seen' });
  });

  test('a turn changes nothing else in the session', async ({ storage, clock }) => {
    await storage.create(creation({ expiry: lives({ session: 60 }) }));
    const { turn: _, ...before } = (await readSession(storage)).record;
    clock.advance(1_000);
    const { token } = await begun(storage);
    await storage.turn({ action: 'renew', key: KEY, token, ttlMs: 20_000 });
    await storage.turn({ action: 'end', key: KEY, token });
    const { turn, ...after } = (await readSession(storage)).record;
    expect(after).toEqual(before);
    expect(turn).toMatchObject({ number: 1, token, expiresAt: 0 });
  });

  test('an append, a trim and a touch do not change the turn', async ({ storage, clock }) => {
    await sessionWithEvents(storage, 3);
    const turn = await begun(storage);
    const { record } = await readSession(storage);
    clock.advance(1_000);
    const { incarnation, firstSeq, marksSeq } = record;
    await storage.append(under('e4', turn));
    await storage.touch({ key: KEY, incarnation, renew: { session: lives({ session: 60 }).session } });
    await storage.trim({ key: KEY, incarnation, firstSeq, marksSeq, newFirstSeq: 2, digests: ['d1'], baseState: '{}' });
    expect((await readSession(storage)).record.turn).toEqual(turn);
  });

  test('a turn belongs to one session', async ({ storage }) => {
    const other = { ...KEY, sessionId: 's-2' };
    await storage.create(creation());
    await storage.create(creation({ key: other }));
    const turn = await begun(storage);
    expect(await storage.append({ ...under('e1', turn), key: other })).toEqual({ kind: 'turnLost' });
    expect(await begun(storage, { key: other })).toMatchObject({ number: 1 });
  });

  test('a missing or expired session has no turns', async ({ storage, clock }) => {
    const missing = { kind: 'missing' };
    expect(await storage.turn(beginning())).toEqual(missing);
    await storage.create(creation({ expiry: lives({ session: 1 }) }));
    const { token } = await begun(storage);
    clock.advance(1_000);
    expect(await storage.turn(beginning({ holder: 'two' }))).toEqual(missing);
    expect(await storage.turn({ action: 'renew', key: KEY, token, ttlMs: 1_000 })).toEqual(missing);
    expect(await storage.turn({ action: 'end', key: KEY, token })).toEqual(missing);
  });

  test('a new session with the same id has no turn of the old one', async ({ storage }) => {
    await storage.create(creation({ turnsOnly: true }));
    const turn = await begun(storage);
    await storage.delete(KEY);
    await storage.create(creation());
    expect((await readSession(storage)).record).toMatchObject({ turn: NO_TURN, turnsOnly: false });
    expect(await storage.append(under('e1', turn))).toEqual({ kind: 'turnLost' });
    await begun(storage);
    expect(await storage.append(under('e1', turn))).toEqual({ kind: 'turnLost' });
  });

  for (const name of ['😀 é e\u0301', "'); DROP TABLE agent_sessions; --", '{}:*%s\\n', 'x'.repeat(191), '  a  b']) {
    test(`a holder and a request may be called ${JSON.stringify(name.slice(0, 40))}`, async ({ storage }) => {
      await storage.create(creation());
      const turn = await begun(storage, { holder: name, requestId: name });
      expect(turn).toMatchObject({ holder: name, requestId: name });
      expect((await readSession(storage)).record.turn).toEqual(turn);
      expect(await begun(storage, { holder: name, requestId: name })).toEqual(turn);
      expect(await storage.turn(beginning({ holder: name }))).toEqual({ kind: 'held', turn });
      expect((await storage.list({ ...KEY, orderBy: 'createTime', order: 'asc', limit: 1 })).sessions).toMatchObject([
        { record: { turn } },
      ]);
    });
  }
});
