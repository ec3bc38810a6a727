import { InMemorySessionStorage } from '../../src/index.js';
import type { EventWindow, ReadRequest, StoredSession } from '../../src/storage.js';

/** Returns more events than requested, as the contract of stores allows. */
export class OverReturningStorage extends InMemorySessionStorage {
  override async read(request: ReadRequest): Promise<StoredSession | undefined> {
    const window = request.window && widened(request.window);
    return super.read({ ...request, window, withState: true, withBase: true });
  }
}

function widened({ ranges, afterSeq = 0, limit, anchorsOnly, maxBytes, ...window }: EventWindow): EventWindow {
  const [first, last] = [ranges?.at(0), ranges?.at(-1)];
  return {
    ...window,
    afterSeq: Math.max(0, afterSeq - 3),
    // The additional events would count against the limits.
    ranges: first && last ? [{ from: first.from - 5, to: last.to + 5 }] : ranges,
    limit: ranges || anchorsOnly || limit === undefined ? undefined : limit + 2,
    maxBytes: ranges ? undefined : maxBytes,
  };
}
