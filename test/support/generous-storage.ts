import { InMemorySessionStorage, type ReadRequest, type StoredSession } from '../../src/index.js';

/** Answers every read with the whole log, whatever was asked for: a store may return more, never less. */
export class GenerousStorage extends InMemorySessionStorage {
  override async read(request: ReadRequest): Promise<StoredSession | undefined> {
    return super.read({ ...request, window: {}, withState: true, withBase: true });
  }
}
