import { traced } from '../../src/sessions/tracing/trace.js';
import { channelOf } from '../../src/sessions/tracing/operation-channels.js';

const CALLS = 100_000;
const ENVIRONMENT = {};
const REQUEST = { session: { appName: 'shop', userId: 'ann', id: 'cart' } };
const RESULT = Promise.resolve('appended');
const listener = (): void => undefined;
const operation = (): Promise<string> => RESULT;

/** Bytes that the heap grew by for each call. The calls allocate less in all than what makes Node collect its garbage. */
function bytesPerCall(calls: number): number {
  const before = process.memoryUsage().heapUsed;
  for (let call = 0; call < calls; call++) void traced('append', operation, ENVIRONMENT, REQUEST, undefined);
  return (process.memoryUsage().heapUsed - before) / calls;
}

describe('an operation', () => {
  it('allocates nothing more while nobody listens', () => {
    bytesPerCall(CALLS);
    expect(Math.min(bytesPerCall(CALLS), bytesPerCall(CALLS), bytesPerCall(CALLS))).toBeLessThan(1);
  });

  it('gives its own promise back while nobody listens, and another one otherwise', async () => {
    expect(traced('append', operation, ENVIRONMENT, REQUEST, undefined)).toBe(RESULT);
    channelOf('append').start.subscribe(listener);
    try {
      const heard = traced('append', operation, ENVIRONMENT, REQUEST, undefined);
      expect(heard).not.toBe(RESULT);
      expect(await heard).toBe('appended');
      // The same measurement sees what it costs.
      expect(Math.max(...Array.from({ length: 5 }, () => bytesPerCall(100)))).toBeGreaterThan(100);
    } finally {
      channelOf('append').start.unsubscribe(listener);
    }
  });
});
