import { BoundedMap } from '../domain/process/bounded-map.js';
import { type SessionKey, sessionNameOf } from '../domain/values/ids.js';
import type { SessionHead } from '../storage/planned-write.js';

/** About 5 MB, and 8 MB of metadata and of state at most. */
const MAX_SESSIONS = 8_192;
const MAX_METADATA = 1_024;

/**
 * The heads of sessions as this process saw them last. They may be out of date: a write that relies on one is written only if it is
 * not.
 */
export class KnownHeads {
  readonly #heads = new BoundedMap<SessionHead>(MAX_SESSIONS);

  find(key: SessionKey): SessionHead | undefined {
    return this.#heads.get(sessionNameOf(key));
  }

  remember(head: SessionHead): void {
    this.#heads.set(sessionNameOf(head.record), isLarge(head) ? { ...head, metadata: undefined } : head);
  }

  /** Takes what was read, unless more is known: somebody may have changed the stored session by hand. */
  refresh(head: SessionHead): void {
    const name = sessionNameOf(head.record);
    const known = this.#heads.get(name);
    if (!known) this.remember(head);
    else if (known.stamp === head.stamp) this.#heads.set(name, { ...head, metadata: head.metadata ?? known.metadata });
  }

  forget(key: SessionKey): void {
    this.#heads.delete(sessionNameOf(key));
  }
}

function isLarge({ metadata }: SessionHead): boolean {
  return metadata !== undefined && metadata.length > MAX_METADATA;
}
