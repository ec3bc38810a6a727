import { getEventListeners, getMaxListeners } from 'node:events';
import { forwardedAbort } from '../../src/sessions/domain/process/forwarded-abort.js';

describe('a forwarded abort', () => {
  it.each([0, 1])('has the reason of the signal that aborts (%i)', (index) => {
    const sources = [new AbortController(), new AbortController()];
    const { signal } = forwardedAbort(sources.map((source) => source.signal));
    expect(signal.aborted).toBe(false);
    const reason = new Error('enough');
    sources[index]?.abort(reason);
    expect([signal.aborted, signal.reason]).toEqual([true, reason]);
  });

  it('has aborted if one of the signals has', () => {
    const reason = new Error('before');
    const { signal } = forwardedAbort([new AbortController().signal, AbortSignal.abort(reason)]);
    expect([signal.aborted, signal.reason]).toEqual([true, reason]);
  });

  it('lets any number of others listen to a signal, without a warning', () => {
    const { signal } = new AbortController();
    forwardedAbort([signal]);
    expect(getMaxListeners(signal)).toBe(Infinity);
  });

  it('leaves no listener behind when it is released, or has aborted', () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const listeners = () => [one, other].map(({ signal }) => getEventListeners(signal, 'abort').length);
    const { signal, release } = forwardedAbort([one.signal, other.signal]);
    expect(listeners()).toEqual([1, 1]);
    release();
    expect(listeners()).toEqual([0, 0]);
    forwardedAbort([one.signal, other.signal]);
    one.abort();
    expect(listeners()).toEqual([0, 0]);
    expect(signal.aborted).toBe(false);
  });
});
