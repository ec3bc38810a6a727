import type { LogTail, SessionStorage, TailRequest } from '../../src/storage.js';
import { TailReads } from '../../src/sessions/tail-reads.js';
import { until } from '../support/until.js';

function request(index: number): TailRequest {
  return { key: { appName: 'shop', userId: 'ann', sessionId: `s-${index}` }, incarnation: '1', afterSeq: 0, limit: 4 };
}

function readsOf(tails: SessionStorage['tails']): TailReads {
  return new TailReads({ tails } as unknown as SessionStorage);
}

function tail(lastSeq: number): LogTail {
  return { lastSeq, livesForMs: 1, events: [] };
}

const requests = Array.from({ length: 250 }, (_, index) => request(index));

it('reads of many watches share calls, two at a time, and each gets its own answer', async () => {
  const calls: { readonly size: number; answer: () => void }[] = [];
  const reads = readsOf(
    (logs) =>
      new Promise((resolve) => {
        const answer = (): void => resolve(logs.map(({ key }) => tail(Number(key.sessionId.slice(2)))));
        calls.push({ size: logs.length, answer });
      }),
  );
  const answers = Promise.all(requests.map((each) => reads.read(each)));
  await until(() => calls.length === 2);
  await new Promise(setImmediate);
  expect(calls.map(({ size }) => size)).toEqual([100, 100]);
  calls[1]?.answer();
  await until(() => calls.length === 3);
  for (const { answer } of calls) answer();
  expect(await answers).toEqual(requests.map((_, index) => tail(index)));
  expect(calls[2]?.size).toBe(50);
});

it('a session without a tail is gone', async () => {
  const reads = readsOf(async () => [undefined, tail(1)]);
  expect(await Promise.all([reads.read(request(0)), reads.read(request(1))])).toEqual(['gone', tail(1)]);
});

it('logs are read by themselves if the store fails', async () => {
  const failing = readsOf(async () => {
    throw new Error('The store is away');
  });
  expect(await failing.read(request(0))).toBeUndefined();
});
