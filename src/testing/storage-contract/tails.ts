import type { SessionStorage } from '../../sessions/storage/session-storage.js';
import type { LogTail, TailRequest } from '../../sessions/storage/session-changes.js';
import { topic } from '../contract-runner.js';
import {
  KEY,
  type StorageFixture,
  createTestBatch,
  createTestCommit,
  creation,
  digestsOf,
  lives,
  readPartials,
  readSession,
  sessionWithEvents,
} from './support.js';

const OTHER = { ...KEY, sessionId: 's-2' };
const LIMIT = 4;
const TEXT = 'ä😀\u0000 \'\n"';

async function tailsOf(
  storage: SessionStorage,
  logs: readonly Partial<TailRequest>[],
): Promise<readonly (LogTail | undefined)[]> {
  const requests: TailRequest[] = [];
  for (const { key = KEY, ...log } of logs) {
    const incarnation = log.incarnation ?? (await readSession(storage, key)).record.incarnation;
    requests.push({ key, afterSeq: 0, limit: LIMIT, ...log, incarnation });
  }
  return storage.tails(requests);
}

type Five = [number, number, number, number, number];

function getTailEventIds(tail: LogTail | undefined): readonly string[] | undefined {
  return tail?.events.map(({ id }) => id);
}

export const tails = topic<StorageFixture>('what is new in several logs', (test) => {
  test('is read in the order that was asked for, from each position', async ({ storage }) => {
    await sessionWithEvents(storage, 2);
    await storage.append(createTestCommit('e3', { event: { payload: JSON.stringify({ id: 'e3', text: TEXT }) } }));
    await storage.create(creation({ key: OTHER }));
    await storage.append(createTestCommit('o1', { key: OTHER }));
    const found = await tailsOf(storage, [{ key: OTHER }, { afterSeq: 1 }, { afterSeq: 3 }, { afterSeq: 2 }]);
    expect(found.map(getTailEventIds)).toEqual([['o1'], ['e2', 'e3'], [], ['e3']]);
    expect(found.map((tail) => tail?.lastSeq)).toEqual([1, 3, 3, 3]);
    const { events } = await readSession(storage);
    expect(found[1]?.events).toEqual(events.slice(1));
    expect(found[1]?.partials).toBeUndefined();
  });

  test('is nothing of a session that is gone', async ({ storage, clock }) => {
    await storage.create(creation({ expiry: lives({ session: 1 }) }));
    await storage.create(creation({ key: OTHER }));
    const { incarnation } = (await readSession(storage)).record;
    const logs = [{ incarnation }, { key: OTHER }];
    const before = await tailsOf(storage, logs);
    expect(before.map((tail) => tail?.lastSeq)).toEqual([0, 0]);
    clock.advance(1_000);
    expect((await tailsOf(storage, logs)).map((tail) => tail?.lastSeq)).toEqual([undefined, 0]);
    await storage.create(creation());
    await storage.append(createTestCommit('new'));
    expect((await tailsOf(storage, logs)).map(getTailEventIds)).toEqual([undefined, []]);
  });

  test('has events without a gap, at most as many as asked for, and may leave out large ones', async ({ storage }) => {
    await sessionWithEvents(storage, 2);
    const large = JSON.stringify({ id: 'e3', text: 'x'.repeat(500_000) });
    await storage.append(createTestBatch([{ id: 'e3', payload: large }, { id: 'e4' }, { id: 'e5' }]));
    const found = await tailsOf(storage, [{}, { afterSeq: 2 }, { afterSeq: 3, limit: 1 }]);
    const [first = [], second = [], third] = found.map(getTailEventIds);
    expect(first).toEqual(['e1', 'e2', 'e3', 'e4'].slice(0, Math.max(2, first.length)));
    expect(second).toEqual(['e3', 'e4', 'e5'].slice(0, second.length));
    expect(third).toEqual(['e4']);
    expect(found.map((tail) => tail?.lastSeq)).toEqual([5, 5, 5]);
  });

  test('has no events where the log was trimmed', async ({ storage }) => {
    await sessionWithEvents(storage, 6);
    const { incarnation, marksSeq } = (await readSession(storage)).record;
    const trim = { key: KEY, incarnation, firstSeq: 1, marksSeq, newFirstSeq: 4, baseState: '{}' };
    await storage.trim({ ...trim, digests: digestsOf(1, 4) });
    const found = await tailsOf(storage, [{ afterSeq: 2 }, { afterSeq: 3 }]);
    expect(found.map(getTailEventIds)).toEqual([[], ['e4', 'e5', 'e6']]);
  });

  test('without events and partial events, tells where the log ends, and how long it lives', async ({
    storage,
    clock,
  }) => {
    await sessionWithEvents(storage, 2);
    await storage.create(creation({ key: OTHER, expiry: lives({ session: 10 }) }));
    const { incarnation } = (await readSession(storage)).record;
    await storage.turn({ action: 'begin', key: KEY, token: 't', holder: 'one', requestId: 't', ttlMs: 60_000 });
    const piece = { key: KEY, incarnation, turnToken: 't', index: 1, messageId: 'm1', content: '{}', ttlMs: 60_000 };
    const saved = await storage.savePartial(piece);
    clock.advance(1_000);
    const asked = { limit: 0, withLastPartial: true };
    const [one, other, unasked] = await tailsOf(storage, [asked, { ...asked, key: OTHER }, { limit: 0 }]);
    const lastPartial = saved.kind === 'saved' && saved.partial.number;
    expect(one).toMatchObject({ lastSeq: 2, events: [], lastPartial });
    expect(other).toEqual({ lastSeq: 0, livesForMs: 9_000, events: [], lastPartial: 0 });
    expect([unasked?.lastSeq, unasked?.lastPartial]).toEqual([2, undefined]);
    expect([one, unasked].map((tail) => tail?.partials)).toEqual([undefined, undefined]);
  });

  test('has all partial events of a log that is asked for alone', async ({ storage }) => {
    await storage.create(creation());
    const { incarnation } = (await readSession(storage)).record;
    await storage.turn({ action: 'begin', key: KEY, token: 't', holder: 'one', requestId: 't', ttlMs: 60_000 });
    const piece = { key: KEY, incarnation, turnToken: 't', messageId: 'm1', ttlMs: 60_000 };
    const content = JSON.stringify('x'.repeat(200_000));
    for (const index of [1, 2, 3]) await storage.savePartial({ ...piece, index, content });
    const partials = await readPartials(storage, incarnation);
    expect(partials?.map((one) => one.content)).toEqual([content, content, content]);
    const log = { limit: 0, afterPartial: 0 };
    for (const tail of await tailsOf(storage, [log, log])) expect([undefined, partials]).toContainEqual(tail?.partials);
  });

  test('has the partial events that are asked for, until they expire', async ({ storage, clock }) => {
    await sessionWithEvents(storage, 1);
    await storage.create(creation({ key: OTHER }));
    const { incarnation } = (await readSession(storage)).record;
    const begin = { action: 'begin', key: KEY, token: 't', holder: 'one', requestId: 't', ttlMs: 60_000 } as const;
    await storage.turn(begin);
    const write = { key: KEY, incarnation, turnToken: 't', messageId: 'm1' };
    const saved: number[] = [];
    for (const index of [1, 2, 3]) {
      const piece = {
        ...write,
        index,
        content: JSON.stringify(`${index} ${TEXT}`),
        ttlMs: index === 2 ? 1_000 : 60_000,
      };
      const outcome = await storage.savePartial(piece);
      if (outcome.kind === 'saved') saved.push(outcome.partial.number);
    }
    const partials = await readPartials(storage, incarnation);
    expect(partials?.map(({ number }) => number)).toEqual(saved);
    const logs = [{ afterPartial: 0 }, { afterPartial: saved[0] ?? 0 }, {}, { key: OTHER, afterPartial: 0 }];
    const found = await tailsOf(storage, logs);
    expect(found.map((tail) => tail?.partials)).toEqual([partials, partials?.slice(1), undefined, []]);
    clock.advance(1_000);
    const later = await tailsOf(storage, logs);
    expect(later[1]?.partials?.map(({ number }) => number)).toEqual([saved[2]]);
  });

  test('has the bytes of what is kept, with the base state before the first event', async ({ storage }) => {
    await storage.create(creation({ baseState: '{"name":"ä"}' }));
    await storage.create(creation({ key: OTHER, baseState: '{"a":1}' }));
    const texts = ['"ä"', '"😀\\n"', `"${'x'.repeat(9_000)}"`, '"d"'];
    for (const [index, payload] of texts.entries())
      await storage.append(createTestCommit(`e${index + 1}`, { event: { payload } }));
    const bytes = async (logs: readonly Partial<TailRequest>[]) =>
      (
        await tailsOf(
          storage,
          logs.map((log) => ({ limit: 0, ...log })),
        )
      ).map((tail) => tail?.bytes);
    const [base, a, b, c, d] = ['{"name":"ä"}', ...texts].map((text) => Buffer.byteLength(text)) as Five;
    const all = { bytesTo: 4 };
    const logs = [all, { afterSeq: 1, bytesTo: 3 }, { afterSeq: 3, bytesTo: 100 }, {}, { key: OTHER, bytesTo: 0 }];
    expect(await bytes(logs)).toEqual([base + a + b + c + d, b + c, d, undefined, 7]);
    const { incarnation } = (await readSession(storage)).record;
    const trim = { key: KEY, incarnation, firstSeq: 1, marksSeq: 0, newFirstSeq: 3, digests: digestsOf(1, 3) };
    await storage.trim({ ...trim, baseState: '{}' });
    expect(await bytes([all, { afterSeq: 2, bytesTo: 4 }, { afterSeq: 3, bytesTo: 4 }])).toEqual([
      2 + c + d,
      2 + c + d,
      d,
    ]);
    await storage.rebuild({ key: KEY, incarnation, events: [{ seq: 3, id: 'e3', payload: '"y"' }] });
    expect(await bytes([all])).toEqual([2 + 3 + d]);
  });
});
