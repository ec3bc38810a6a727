import type { SessionKey } from '../../src/index.js';
import type { SessionStorage, StoredPartial } from '../../src/storage.js';

/** The pieces of answers of a session. Undefined if there is no session. */
export async function savedPieces(
  storage: SessionStorage,
  key: SessionKey,
): Promise<readonly StoredPartial[] | undefined> {
  const incarnation = (await storage.read({ key }))?.record.incarnation;
  if (incarnation === undefined) return undefined;
  const [tail] = await storage.tails([{ key, incarnation, afterSeq: 0, limit: 0, afterPartial: 0 }]);
  return tail?.partials;
}
